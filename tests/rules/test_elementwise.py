"""Sums, products, quotients and other functions of several signals against torch, independent and dependent.

Functions of one Gaussian source and sums are exact; products are exact for Gaussians. Where a rule approximates (a
function of two correlated sources, a quotient by a fluctuating mean) the test states the model error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import autoinit.rules.elementwise
import autoinit.rules.merge
import autoinit.rules.pool
import autoinit.rules.reduce
import autoinit.rules.shape  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal, iid

from .harness import check, compare, components, measure, predict

SHAPE = (4, 6, 5)
A = components(SHAPE, 0.0, {(0, 1, 2): 1.0})
B = components(SHAPE, 1.0, {(0, 1, 2): 0.5, (0, 1): 0.4, (0,): 0.3})
C = components(SHAPE, -2.0, {(0, 1, 2): 0.2, (1, 2): 1.0, (0, 2): 0.5})
WIDE = [components((3, 4, 40), m, {(0, 1, 2): 0.8, (0, 1): 0.4, (2,): 0.2}) for m in (0.0, 1.5)]
PAIRS = [(A, B), (B, C), (C, C.materialised())]


def ew(fn: str, *operands: Signal | float, shape: tuple[int, ...] = ()) -> Signal:
    """One elementwise call; numbers are scalars of the call."""
    signals = [s if isinstance(s, Signal) else None for s in operands]
    scalars = {k: float(s) for k, s in enumerate(operands) if not isinstance(s, Signal)}
    shape = shape or next(s.shape for s in signals if s is not None)
    return predict("elementwise", signals, [shape], fn=fn, scalars=scalars)


def function(name: str, x: Signal, *args: float) -> Signal:
    return Signal.function(x.source, apply(name, x.expr, *args))


def mean(x: Signal, *axes: int) -> Signal:
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    return predict("reduce", [x], [shape], kind="mean", axes=axes, keepdim=True)


def of_one(x: Signal, made: Signal, run: Any, repeats: int = 500, **errors: float) -> None:
    """`made` (a prediction) against `run` on samples of `x`."""
    compare(made, measure([x], run, repeats)[0], **errors)


# --- independent operands -------------------------------------------------------------------------


@pytest.mark.parametrize(("u", "v"), PAIRS)
@pytest.mark.parametrize("fn", ["add", "sub", "mul"])
def test_independent(u: Signal, v: Signal, fn: str) -> None:
    check("elementwise", [u, v], getattr(torch, fn), repeats=500, fn=fn)


def test_broadcasting_operands() -> None:
    row, column = components((5,), 1.0, {(0,): 0.5}), components((4, 1, 1), 0.5, {(0,): 0.5})
    for fn in ("add", "mul"):
        check("elementwise", [B, row], getattr(torch, fn), repeats=500, fn=fn)
        check("elementwise", [column, B], getattr(torch, fn), repeats=500, fn=fn)


def test_quotient_by_a_positive_signal() -> None:
    """u / exp(g): the reciprocal is one function of the denominator's source."""
    g = components(SHAPE, 0.5, {(0, 1, 2): 0.1, (0,): 0.1})
    check("elementwise", [B, function("exp", g)], torch.div, repeats=500, fn="div")


@pytest.mark.parametrize("fn", ["add", "sub", "mul", "div", "maximum", "minimum", "pow"])
def test_scalars_are_part_of_the_function(fn: str) -> None:
    x = function("exp", components(SHAPE, 0.2, {(0, 1, 2): 0.1, (0,): 0.1}))
    run = {"maximum": lambda t: t.clamp(min=1.3), "minimum": lambda t: t.clamp(max=1.3)}.get(
        fn, lambda t: getattr(torch, fn)(t, 1.3)
    )
    of_one(x, ew(fn, x, 1.3), run)


def test_times_five_and_by_five() -> None:
    assert ew("mul", A, 5.0).variance == pytest.approx(25.0)
    assert ew("div", A, 5.0).variance == pytest.approx(0.04)
    assert ew("div", 5.0, function("exp", A)).mean == pytest.approx(5 * np.exp(0.5), rel=1e-6)


def test_constant_operand_is_a_number() -> None:
    three = Signal((5,), 3.0, np.full((2,), 9.0))
    assert ew("mul", A, three, shape=SHAPE).source is A


@pytest.mark.parametrize("x", [B, C])
def test_a_known_array_times_a_signal(x: Signal) -> None:
    array = np.random.default_rng(0).normal(0.5, 1.0, (6, 5))
    y = ew("mul", x, from_array(array), shape=SHAPE)
    of_one(x, y, lambda t: t * torch.from_numpy(array))


@pytest.mark.parametrize("x", [B, C])
def test_a_signal_by_a_known_array(x: Signal) -> None:
    """Divisors between 0.5 and 4: their inverse is measured, not that of a Gaussian with their moments."""
    array = np.linspace(0.5, 4.0, 5)
    signals = [x, from_array(array)]
    made = predict("elementwise", signals, [SHAPE], fn="div", arrays={1: array})
    of_one(x, made, lambda t: t / torch.from_numpy(array))


# --- one source -----------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [A, B, C])
def test_with_itself(x: Signal) -> None:
    of_one(x, ew("add", x, x), lambda t: t + t)
    of_one(x, ew("mul", x, x), lambda t: t * t)
    zero = ew("sub", x, x)
    assert zero.mean == 0.0 and not zero.K.any()


@pytest.mark.parametrize("x", [A, B, C])
def test_with_functions_of_itself(x: Signal) -> None:
    of_one(x, ew("add", x, function("relu", x)), lambda t: t + t.relu())
    of_one(x, ew("mul", x, function("sigmoid", x)), lambda t: t * t.sigmoid())
    of_one(x, ew("maximum", x, function("tanh", x)), lambda t: torch.maximum(t, t.tanh()))


def test_gelu_by_hand() -> None:
    cubic = ew("add", B, ew("mul", ew("pow", B, 3.0), 0.044715))
    inner = function("tanh", ew("mul", cubic, (2 / np.pi) ** 0.5))
    made = ew("mul", ew("mul", B, 0.5), ew("add", inner, 1.0))
    of_one(B, made, lambda t: torch.nn.functional.gelu(t, approximate="tanh"))
    assert made.source is B


# --- x and averages of x --------------------------------------------------------------------------


@pytest.mark.parametrize("x", [A, B, C, *WIDE])
@pytest.mark.parametrize("axes", [(2,), (1,), (0, 1), (1, 2)])
def test_minus_its_mean(x: Signal, axes: tuple[int, ...]) -> None:
    y = ew("sub", x, mean(x, *axes))
    of_one(x, y, lambda t: t - t.mean(dim=axes, keepdim=True), repeats=400)
    assert y.mean == pytest.approx(0.0, abs=1e-12)


def test_centring_twice_changes_nothing() -> None:
    once = ew("sub", B, mean(B, 2))
    twice = ew("sub", once, mean(once, 2))
    np.testing.assert_allclose(twice.K, once.K, atol=1e-12)


def test_centring_along_two_axes() -> None:
    """x - mean over rows - mean over columns + mean over both: four terms of one root."""
    y = ew("add", ew("sub", ew("sub", B, mean(B, 1)), mean(B, 2)), mean(B, 1, 2))
    of_one(B, y, lambda t: t - t.mean(1, True) - t.mean(2, True) + t.mean((1, 2), True), repeats=600)


@pytest.mark.parametrize("x", WIDE)
def test_pooled_minus_itself(x: Signal) -> None:
    """avgpool(x) - x with windows of 3, stride 1, borders left out of the mean: 2 % (two of 40 windows are smaller)."""
    pooled = predict("average_pool", [x], [x.shape], axes=(2,), window=(3,), stride=(1,), padding=((1, 1),),
                     include_pad=False)  # fmt: skip
    run = lambda t: torch.nn.functional.avg_pool1d(t, 3, 1, 1, count_include_pad=False) - t  # noqa: E731
    of_one(x, ew("sub", pooled, x), run, model_error=0.02)


@pytest.mark.parametrize("x", WIDE)
def test_layer_norm_by_hand(x: Signal) -> None:
    """(x - mean) / sqrt(mean of squares + eps). The divisor is taken as independent of one entry: 2/n too much."""
    centred = ew("sub", x, mean(x, 2))
    variance = mean(ew("mul", centred, centred), 2)
    made = ew("div", centred, function("sqrt", ew("add", variance, 1e-5)))
    run = lambda t: torch.nn.functional.layer_norm(t, (40,))  # noqa: E731
    of_one(x, made, run, repeats=300, model_error=2 / 40 + 0.01)


@pytest.mark.parametrize("x", [B, C, *WIDE])
def test_times_its_mean(x: Signal) -> None:
    """Jointly Gaussian, correlated: Isserlis is exact."""
    of_one(x, ew("mul", x, mean(x, 2)), lambda t: t * t.mean(2, True), repeats=1500)


@pytest.mark.parametrize("rho", [-0.6, 0.3, 0.9])
@pytest.mark.parametrize("means", [(0.0, 0.0), (1.0, -0.5)])
def test_product_of_correlated_gaussians(rho: float, means: tuple[float, float]) -> None:
    """u = a + s and v = b + rho s share the part s."""
    s, a, b = (components(SHAPE, m, {(0, 1, 2): 0.7, (0, 1): 0.3}) for m in (0.0, *means))
    u, v = ew("add", s, a), ew("add", ew("mul", s, rho), b)
    measured = measure([s, a, b], lambda s, a, b: (s + a) * (rho * s + b), 800)[0]
    compare(ew("mul", u, v), measured)
    compare(ew("sub", u, v), measure([s, a, b], lambda s, a, b: (s + a) - (rho * s + b), 300)[0])


# --- rotations ------------------------------------------------------------------------------------


def rotation(n: int, half: int) -> tuple[Any, Any]:
    angle = np.outer(np.arange(n), 0.7 ** np.arange(half))
    return np.cos(angle), np.sin(angle)


@pytest.mark.parametrize("x", [components((3, 6, 8), 0.0, {(0, 1, 2): 0.6, (0, 2): 0.4}),
                               components((3, 6, 8), 0.0, {(0, 1, 2): 1.0})])  # fmt: skip
def test_rotary_embedding(x: Signal) -> None:
    """Halves rotated by known angles: the power stays, tokens decorrelate by the mean of cos(angle difference).

    2 %: a product with an array treats places as exchangeable.
    """
    cos, sin = rotation(6, 4)
    c, s = from_array(cos), from_array(sin)
    one, two = predict("split", [x], [(3, 6, 4)] * 2, axis=2, sizes=(4, 4))
    first = ew("sub", ew("mul", one, c, shape=(3, 6, 4)), ew("mul", two, s, shape=(3, 6, 4)))
    second = ew("add", ew("mul", one, s, shape=(3, 6, 4)), ew("mul", two, c, shape=(3, 6, 4)))
    made = predict("concat", [first, second], [(3, 6, 8)], axis=2)
    assert made.second == pytest.approx(x.second, rel=1e-9)

    def run(t: torch.Tensor) -> torch.Tensor:
        a, b = t.chunk(2, -1)
        k, w = torch.from_numpy(cos), torch.from_numpy(sin)
        return torch.cat([a * k - b * w, a * w + b * k], -1)

    of_one(x, made, run, repeats=800, model_error=0.02)


def test_rotate_half() -> None:
    """x cos + (-x2, x1) sin, as most language models write it."""
    x = components((3, 6, 8), 0.0, {(0, 1, 2): 0.6, (0, 2): 0.4})
    cos, sin = (np.concatenate([a, a], axis=1) for a in rotation(6, 4))
    one, two = predict("split", [x], [(3, 6, 4)] * 2, axis=2, sizes=(4, 4))
    turned = predict("concat", [ew("neg", two), one], [(3, 6, 8)], axis=2)
    made = ew("add", ew("mul", x, from_array(cos), shape=x.shape), ew("mul", turned, from_array(sin), shape=x.shape))

    def run(t: torch.Tensor) -> torch.Tensor:
        a, b = t.chunk(2, -1)
        return t * torch.from_numpy(cos) + torch.cat([-b, a], -1) * torch.from_numpy(sin)

    of_one(x, made, run, repeats=800, model_error=0.02)


# --- two sources ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("u", "v"), PAIRS)
@pytest.mark.parametrize("fn", ["maximum", "minimum"])
def test_larger_and_smaller_of_two(u: Signal, v: Signal, fn: str) -> None:
    """Mean and E[y^2] to the grid's precision (1 %: a kink on 48 nodes); pairs by their linear parts: 4 %."""
    check("elementwise", [u, v], getattr(torch, fn), repeats=500, fn=fn, mean_error=0.01, model_error=0.04)


def test_comparison_of_two() -> None:
    y = check("elementwise", [A, B], lambda a, b: torch.gt(a, b).double(), repeats=500, fn="gt", mean_error=0.03,
              model_error=0.06)  # fmt: skip
    assert y.mean == pytest.approx(y.second, rel=1e-9)


def test_gated_unit() -> None:
    """a sigmoid(b) of independent halves: a product of independent signals, one of them a function."""
    of_two = measure([B, C], lambda b, c: b * c.sigmoid(), 500)[0]
    compare(ew("mul", B, function("sigmoid", C)), of_two)


# --- post-activation residuals (core.marginal) ----------------------------------------------------


def branch(k: int, parts: dict[tuple[int, ...], float]) -> Signal:
    return components((6, 8, 5), 0.0, parts)


@pytest.mark.parametrize("parts", [{(0, 1, 2): 1.0}, {(0, 1, 2): 0.5, (0, 1): 0.5}, {(0, 1, 2): 0.2, (1,): 0.8}])
@pytest.mark.parametrize("depth", [1, 4])
def test_post_activation_residuals(parts: dict[tuple[int, ...], float], depth: int) -> None:
    """relu(relu(a) + b), again and again with fresh branches: the law of the stream is not Gaussian.

    128 points per law and the copula: 1 % of E[y^2] after one block, 2 % after four.
    """
    signals = [branch(k, parts) for k in range(depth + 1)]
    x = function("relu", signals[0])
    for b in signals[1:]:
        x = function("relu", ew("add", x, b))

    def run(first: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        t = first.relu()
        for b in rest:
            t = (t + b).relu()
        return t

    error = 0.01 if depth == 1 else 0.02
    compare(x, measure(signals, run, 600)[0], mean_error=error, model_error=error)


def test_a_sum_keeps_its_first_two_moments_exactly() -> None:
    parts = {(0, 1, 2): 0.5, (0, 1): 0.5}
    a, b = function("relu", branch(0, parts)), branch(1, parts)
    y = ew("add", a, b)
    assert y.mean == pytest.approx(a.mean) and y.second == pytest.approx(a.second + 1.0)
    np.testing.assert_allclose(y.K, a.K + b.K)


def test_gaussian_sums_need_no_shape() -> None:
    assert ew("add", A, B).parts is None
    assert ew("add", function("relu", A), B).parts is not None
    assert ew("add", function("relu", A).scaled(0.05), B).parts is None, "a small part does not change the law"


def test_problem_is_reported() -> None:
    """log of a Gaussian is not finite on half of it: the chain says so when it is asked."""
    assert function("log", A).problem
    assert not function("exp", A).problem
    assert iid(SHAPE).problem is None
    assert X is A.expr
