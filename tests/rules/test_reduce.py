"""Reductions and running reductions against torch."""

from __future__ import annotations

import math

import pytest
import torch

import autoinit.rules.reduce  # noqa: F401
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, constant, iid
from tests.core.dependence.program import Program

from .harness import check, components, measure, predict

SIGNALS = [
    components((5, 6, 12), 0.0, {(0, 1, 2): 1.0}),
    components((5, 6, 12), 1.2, {(0, 1, 2): 0.5, (0, 1): 0.4, (2,): 0.3}),
    components((5, 6, 12), -2.0, {(0, 1, 2): 1.5, (0, 2): 0.6, (): 0.2}),
]


def function(x, *names):
    expr = X
    for name in names:
        expr = apply(name, expr)
    return Signal.function(x, expr)


@pytest.mark.parametrize("x", SIGNALS)
@pytest.mark.parametrize("axes", [(2,), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_linear(x, axes, kind):
    run = lambda t: getattr(t, kind)(dim=axes)  # noqa: E731
    check("reduce", [x], run, kind=kind, axes=axes, keepdim=False)


@pytest.mark.parametrize("x", SIGNALS)
@pytest.mark.parametrize("axes", [(2,), (1, 2)])
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("kind", ["var", "std"])
def test_spread(x, axes, correction, kind):
    """The variance is exact for Gaussian entries; its root is that of a log-normal (12 entries: 0.2 %)."""
    run = lambda t: getattr(torch, kind)(t, dim=axes, correction=correction, keepdim=True)  # noqa: E731
    error = 0.0 if kind == "var" else 0.01
    check("reduce", [x], run, kind=kind, axes=axes, keepdim=True, correction=correction, model_error=error,
          mean_error=error)  # fmt: skip


def test_variance_of_relu():
    x = function(SIGNALS[1], "relu")
    run = lambda t: t.var(dim=2)  # noqa: E731
    check("reduce", [x], run, kind="var", axes=(2,), keepdim=False, correction=1, model_error=0.03)


@pytest.mark.parametrize("x", SIGNALS)
@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, math.inf, -math.inf])
def test_norm(x, power):
    run = lambda t: torch.linalg.vector_norm(t, power, dim=2)  # noqa: E731
    check(
        "reduce",
        [x],
        run,
        kind="norm",
        axes=(2,),
        keepdim=False,
        power=power,
        model_error=0.02,
        mean_error=0.01,
    )


@pytest.mark.parametrize("x", SIGNALS)
@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("names", [(), ("relu",), ("abs",)])
def test_extremes(x, kind, names):
    """Pairs of maxima of a non-monotone function are of first order: 2 %."""
    if kind == "min" and names == ("relu",) and x.mean <= 0.0:
        pytest.skip("the smallest of twelve rectified entries is almost surely 0: nothing to measure")
    x = function(x, *names)
    run = lambda t: getattr(t, f"a{kind}")(dim=2)  # noqa: E731
    check("reduce", [x], run, kind=kind, axes=(2,), keepdim=False, model_error=0.025, mean_error=0.005)


def test_extremes_over_several_axes():
    check(
        "reduce",
        [SIGNALS[1]],
        lambda t: t.amax(dim=(1, 2)),
        kind="max",
        axes=(1, 2),
        keepdim=False,
        model_error=0.02,
    )


def test_global_max_pooling():
    """GlobalMaxPooling2D over 16 x 16 independent places: variance 0.153 and mean 2.82, not 1 and 0."""
    y = predict("reduce", [iid((4, 16, 16, 3))], [(4, 3)], kind="max", axes=(1, 2), keepdim=False)
    assert y.mean == pytest.approx(2.82, abs=0.02) and y.variance == pytest.approx(0.153, abs=0.01)


@pytest.mark.parametrize("x", SIGNALS)
def test_logsumexp(x):
    run = lambda t: t.logsumexp(dim=2)  # noqa: E731
    check("reduce", [x], run, kind="logsumexp", axes=(2,), keepdim=False, model_error=0.01, mean_error=0.002)


def test_product():
    x = components((40, 4), 1.0, {(0, 1): 0.2})
    check("reduce", [x], lambda t: t.prod(dim=1), kind="prod", axes=(1,), keepdim=False, repeats=2000)
    zero_mean = iid((40, 3), 0.0, 2.0)
    check("reduce", [zero_mean], lambda t: t.prod(dim=1), kind="prod", axes=(1,), keepdim=False, repeats=2000)


def test_any_and_all():
    x = Signal.function(iid((50, 6), -1.0, 1.0), apply("gt", X, 0.0))
    check(
        "reduce",
        [x],
        lambda t: (t != 0).any(dim=1),
        kind="any",
        axes=(1,),
        keepdim=False,
        model_error=0.01,
        mean_error=0.01,
    )
    x = Signal.function(iid((50, 3), 1.0, 1.0), apply("gt", X, 0.0))
    check(
        "reduce",
        [x],
        lambda t: (t != 0).all(dim=1),
        kind="all",
        axes=(1,),
        keepdim=False,
        model_error=0.01,
        mean_error=0.01,
    )


@pytest.mark.parametrize("name", ["sqrt", "rsqrt", "log", "reciprocal"])
def test_functions_of_a_mean_square(name):
    """RMS norm written by hand: the mean square is an exponential of a Gaussian, so its root has moments."""
    x = components((5, 6, 48), 0.3, {(0, 1, 2): 0.7, (0, 1): 0.2})
    y = predict("reduce", [function(x, "square")], [(5, 6, 1)], kind="mean", axes=(2,), keepdim=True)
    made = Signal.function(y.source, apply(name, y.expr))
    mean, se, K, _ = measure([x], lambda t: getattr(torch, name)(t.square().mean(2, keepdim=True)), 400)[0]
    assert made.problem is None
    error = 0.06 if name == "reciprocal" else 0.02  # the left tail of a sum of squares is not that of a log-normal
    assert made.mean == pytest.approx(mean, abs=5 * se + error * math.sqrt(K.flat[0]))


def test_centring_is_exact():
    x, program = SIGNALS[1], Program()
    value = program.input(x)
    kept = program.mean(value, 2)
    centred = (x.K + program.signals[kept.id].K - 2 * program.cross(value, kept)).flat[0]
    assert centred == pytest.approx(0.8 * (1 - 1 / 12))


def test_edges():
    flat = constant((4, 5), 3.0)
    assert predict("reduce", [flat], [(4,)], kind="max", axes=(1,), keepdim=False).mean == 3.0
    assert predict("reduce", [flat], [(4,)], kind="std", axes=(1,), keepdim=False).second == 0.0
    assert predict("reduce", [flat], [()], kind="mean", axes=(0, 1), keepdim=False).mean == pytest.approx(3.0)


@pytest.mark.parametrize("x", SIGNALS)
def test_running_sum(x):
    y = check("cumulative", [x], lambda t: t.cumsum(2), kind="sum", axis=2)
    assert y.profiles[2][0] < y.profiles[2][-1]


@pytest.mark.parametrize("kind", ["max", "min"])
def test_running_extremes(kind):
    run = lambda t: getattr(t, f"cum{kind}")(2).values  # noqa: E731
    check("cumulative", [SIGNALS[1]], run, kind=kind, axis=2, model_error=0.06, mean_error=0.04)


def test_running_product():
    x = components((50, 6), 1.0, {(0, 1): 0.1})
    check("cumulative", [x], lambda t: t.cumprod(1), kind="prod", axis=1, repeats=1500)
