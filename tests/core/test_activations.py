"""The table of elementwise functions: complete, right, and quiet for large arguments."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from autoinit.core.gaussian.activations import FUNCTIONS, register
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.gaussian.functions import SELU_ALPHA, SELU_SCALE
from autoinit.core.gaussian.integrals import analyse

UNARY = [
    "relu",
    "relu6",
    "hardtanh",
    "leaky_relu",
    "prelu",
    "rrelu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "gelu_tanh",
    "quick_gelu",
    "silu",
    "mish",
    "sigmoid",
    "log_sigmoid",
    "hardsigmoid",
    "hardswish",
    "tanh",
    "tanhshrink",
    "softplus",
    "softsign",
    "softshrink",
    "hardshrink",
    "threshold",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "square",
    "abs",
    "neg",
    "sign",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "asinh",
    "atan",
    "asin",
    "acos",
    "atanh",
    "acosh",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "sinc",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "bessel_j0",
    "bessel_j1",
    "digamma",
    "lgamma",
    "logit",
    "gt_scalar",
    "ge_scalar",
    "lt_scalar",
    "le_scalar",
    "isnan",
    "clamp",
    "nan_to_num",
    "logical_not",
]
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "pow",
    "atan2",
    "fmod",
    "remainder",
    "hypot",
    "logaddexp",
    "xlogy",
    "copysign",
    "squared_difference",
    "gt",
    "ge",
    "lt",
    "le",
    "eq",
    "ne",
    "logical_and",
    "logical_or",
]


@pytest.mark.parametrize(("names", "arity"), [(UNARY, 1), (BINARY, 2), (["where", "lerp"], 3)])
def test_vocabulary_is_complete(names: list[str], arity: int) -> None:
    for name in names:
        assert FUNCTIONS[name].arity == arity


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="already registered"):
        register("relu", np.abs)


def test_defaults_complete_the_parameters() -> None:
    assert FUNCTIONS["elu"].with_defaults((2.0,)) == (2.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="at most 1"):
        FUNCTIONS["leaky_relu"].with_defaults((1.0, 2.0))


@pytest.mark.parametrize(
    "name",
    [
        "relu",
        "relu6",
        "hardtanh",
        "leaky_relu",
        "prelu",
        "elu",
        "selu",
        "celu",
        "gelu",
        "gelu_tanh",
        "quick_gelu",
        "silu",
        "mish",
        "sigmoid",
        "log_sigmoid",
        "hardsigmoid",
        "hardswish",
        "tanh",
        "tanhshrink",
        "softplus",
        "softsign",
        "softshrink",
        "hardshrink",
        "erf",
        "erfc",
        "atan",
        "asinh",
        "i0e",
    ],
)
def test_large_arguments_are_quiet_and_finite(name: str) -> None:
    function = FUNCTIONS[name]
    x = np.array([-1e200, -1e10, -800.0, -40.0, 0.0, 40.0, 800.0, 1e10, 1e200])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = function.fn(x, *function.defaults)
    assert np.isfinite(y).all()


@pytest.mark.parametrize("name", [n for n in UNARY if FUNCTIONS[n].monotone_for(FUNCTIONS[n].defaults)])
def test_monotone_means_monotone(name: str) -> None:
    function = FUNCTIONS[name]
    sign = function.monotone_for(function.defaults)
    with np.errstate(all="ignore"):
        y = function.fn(np.linspace(-8.0, 8.0, 4001), *function.defaults)
    change = np.diff(y) * sign
    assert (change[np.isfinite(change)] >= -1e-12).all()


def test_against_torch() -> None:
    torch = pytest.importorskip("torch")
    f = torch.nn.functional
    x = torch.linspace(-7.03, 7.01, 301, dtype=torch.float64)
    cases = {
        "relu": f.relu,
        "relu6": f.relu6,
        "hardtanh": f.hardtanh,
        "leaky_relu": f.leaky_relu,
        "elu": f.elu,
        "selu": f.selu,
        "celu": f.celu,
        "gelu": f.gelu,
        "gelu_tanh": lambda t: f.gelu(t, approximate="tanh"),
        "silu": f.silu,
        "mish": f.mish,
        "sigmoid": torch.sigmoid,
        "log_sigmoid": f.logsigmoid,
        "hardsigmoid": f.hardsigmoid,
        "hardswish": f.hardswish,
        "tanh": torch.tanh,
        "tanhshrink": f.tanhshrink,
        "softplus": f.softplus,
        "softsign": f.softsign,
        "softshrink": f.softshrink,
        "hardshrink": f.hardshrink,
        "sinc": torch.sinc,
        "i0": torch.special.i0,
        "i0e": torch.special.i0e,
        "i1": torch.special.i1,
        "i1e": torch.special.i1e,
        "bessel_j0": torch.special.bessel_j0,
        "bessel_j1": torch.special.bessel_j1,
        "digamma": torch.digamma,
        "lgamma": torch.lgamma,
        "erfc": torch.erfc,
        "frac": torch.frac,
        "round": torch.round,
        "trunc": torch.trunc,
    }
    for name, reference in cases.items():
        function = FUNCTIONS[name]
        got = function.fn(x.numpy(), *function.defaults)
        np.testing.assert_allclose(
            got, reference(x).numpy(), rtol=1e-9, atol=1e-6 if "bessel" in name else 1e-12, err_msg=name
        )


def test_selu_keeps_a_standard_normal() -> None:
    found = analyse(apply("elu", X, params=(SELU_ALPHA, SELU_SCALE, 1.0)), 1e-9, 1.0)
    assert found.mean == pytest.approx(0.0, abs=1e-7)
    assert found.second == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize(
    ("mean", "std", "variance"),
    [(100.0, 1.0, 1.0), (0.0, 1e6, 3.408450569e11), (-100.0, 1.0, 0.0), (1e-3, 1e-9, 1e-18)],
)
def test_relu_moments_at_extremes(mean: float, std: float, variance: float) -> None:
    first, second = FUNCTIONS["relu"].closed().moments(mean, std)  # type: ignore[misc]
    assert second - first * first == pytest.approx(variance, rel=1e-6, abs=1e-21)


def test_relu_far_tail_keeps_its_digits() -> None:
    """E relu(x) for N(−20, 1) is φ(20) (1 − 20 M(20)) with the Mills ratio M; 16 digits by mpmath."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        a = mpmath.mpf(20)
        exact = mpmath.npdf(a) - a * mpmath.ncdf(-a)
        exact_square = (1 + a * a) * mpmath.ncdf(-a) - a * mpmath.npdf(a)
    first, second = FUNCTIONS["relu"].closed().moments(-20.0, 1.0)  # type: ignore[misc]
    assert first == pytest.approx(float(exact), rel=1e-10)
    assert second == pytest.approx(float(exact_square), rel=1e-9)


@pytest.mark.parametrize(
    "name", ["hardtanh", "relu6", "softshrink", "hardshrink", "hardsigmoid", "threshold", "abs", "prelu"]
)
@pytest.mark.parametrize(("mean", "std"), [(0.0, 1.0), (0.3, 2.0), (-2.5, 0.4), (1e8, 1.0), (0.0, 1e7)])
def test_piecewise_values_agree_with_the_function(name: str, mean: float, std: float) -> None:
    """E f lies between the extremes of f, and E f² ≥ (E f)², whatever the scale."""
    function = FUNCTIONS[name]
    pieces = function.closed(*function.defaults)  # type: ignore[misc]
    first, second = pieces.moments(mean, std)
    x = np.linspace(-8.0, 8.0, 1601) + 1e-3
    at = np.searchsorted(pieces.breaks, x)
    np.testing.assert_allclose(
        np.array(pieces.slopes)[at] * x + np.array(pieces.intercepts)[at],
        function.fn(x, *function.defaults),
        atol=1e-12,
    )
    assert math.isfinite(first)
    assert second >= first * first * (1.0 - 1e-12)
