"""Laws that are not Gaussian: sums of a rectified stream and a branch."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.marginal import (
    ORDERS,
    POINTS,
    ShapedAnalysis,
    Sum,
    hermite_rows,
    is_shaped,
    matters,
    normal_points,
    points_of,
)  # fmt: skip
from autoinit.core.signal.signal import Signal, iid

from ..rules.harness import components


def relu(x: Signal) -> Signal:
    return Signal.function(x.source, apply("relu", x.expr))


def summed(u: Signal, v: Signal, a: float = 1.0, b: float = 1.0) -> Signal:
    """a u + b v of independent u and v, as the rule for sums makes it."""
    made = Signal(u.shape, a * u.mean + b * v.mean, a * a * u.K + b * b * v.K + 2 * a * b * u.mean * v.mean)
    made.parts = Sum(a, u, b, v)
    return made


def test_points_are_standard_normal() -> None:
    g = normal_points()
    assert g.mean() == pytest.approx(0.0, abs=1e-12) and g.var() == pytest.approx(1.0)
    assert (np.diff(g) > 0).all() and g.size == POINTS


def test_hermite_rows_are_orthonormal_on_the_points() -> None:
    rows = hermite_rows()
    np.testing.assert_allclose(rows @ rows.T / POINTS, np.eye(ORDERS), atol=1e-9)
    np.testing.assert_allclose(rows[1], normal_points(), atol=1e-9)


def test_which_signals_are_shaped() -> None:
    x = iid((4,))
    assert not is_shaped(x) and not is_shaped(x.scaled(3.0))
    assert is_shaped(relu(x)) and is_shaped(relu(x).scaled(3.0))
    assert is_shaped(summed(relu(x), iid((4,))))


def test_small_parts_do_not_matter() -> None:
    x = iid((4,))
    assert matters(relu(x), iid((4,)))
    assert not matters(relu(x).scaled(0.1), iid((4,)))
    assert not matters(iid((4,)), iid((4,)))
    assert not matters(Signal((4,), 0.0, np.zeros(2)), Signal((4,), 0.0, np.zeros(2)))


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 0.5), (-1.0, 1.0)])
def test_quantiles_of_a_sum(a: float, b: float) -> None:
    """128 means of equal slices of the law: against 400000 samples, a hundredth of a standard deviation or two of
    the points' own spacing in the tails."""
    x, y = iid((4,)), iid((4,), 0.0, 0.5)
    found = points_of(summed(relu(x), y, a, b))
    rng = np.random.default_rng(0)
    drawn = np.sort(a * np.maximum(rng.standard_normal(400_000), 0.0) + b * np.sqrt(0.5) * rng.standard_normal(400_000))
    slices = drawn[: 400_000 // POINTS * POINTS].reshape(POINTS, -1).mean(axis=1)
    spacing = np.gradient(slices)
    assert np.all(np.abs(found - slices) <= 0.03 * drawn.std() + 2 * spacing)
    assert found.mean() == pytest.approx(float(a / np.sqrt(2 * np.pi)), abs=1e-9)
    assert found.var() == pytest.approx(a * a * (0.5 - 1 / (2 * np.pi)) + b * b * 0.5, rel=1e-9)


@pytest.mark.parametrize("share", [0.2, 1.0, 5.0])
def test_moments_of_relu_of_a_sum(share: float) -> None:
    """relu(relu(z) + b z'): mean and E to 0.5 %, against 10^6 samples (five standard errors: 0.6 %)."""
    x, y = iid((4,)), iid((4,), 0.0, share)
    h = relu(summed(relu(x), y))
    rng = np.random.default_rng(1)
    t = np.maximum(np.maximum(rng.standard_normal(10**6), 0) + share**0.5 * rng.standard_normal(10**6), 0)
    assert h.mean == pytest.approx(float(t.mean()), rel=0.01)
    assert h.second == pytest.approx(float(np.mean(t * t)), rel=0.01)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9, 1.0])
def test_pairs_of_relu_of_a_sum(rho: float) -> None:
    """Two entries whose parts have correlation rho: the copula reproduces E[h h'] to 1 %."""
    x = components((4, 2), 0.0, {(0, 1): 1 - rho, (0,): rho})
    y = components((4, 2), 0.0, {(0, 1): 1 - rho, (0,): rho})
    h = relu(summed(relu(x), y))
    rng = np.random.default_rng(2)

    def pair() -> np.ndarray:
        common = rng.standard_normal((400_000, 1))
        return rho**0.5 * common + (1 - rho) ** 0.5 * rng.standard_normal((400_000, 2))

    t = np.maximum(np.maximum(pair(), 0) + pair(), 0)
    product = t[:, 0] * t[:, 1]
    error = 5 * float(product.std()) / np.sqrt(len(product))
    assert h.K[0, 1] == pytest.approx(float(product.mean()), abs=error + 0.01 * h.second)


def test_affine_functions_need_no_law() -> None:
    """3 x + 1 of a shaped sum has exact moments."""
    s = summed(relu(iid((4,))), iid((4,)))
    t = Signal.function(s, apply("add", apply("mul", X, 3.0), 1.0))
    assert t.mean == pytest.approx(3 * s.mean + 1)
    np.testing.assert_allclose(t.covariance, 9 * s.covariance, rtol=1e-9, atol=1e-12)


def test_slope_is_the_power_of_the_function() -> None:
    s = summed(relu(iid((4,))), iid((4,)))
    assert ShapedAnalysis(apply("relu", X), s).slope == pytest.approx(1.0)
    assert ShapedAnalysis(apply("square", X), s).slope == pytest.approx(2.0)


def test_functions_that_are_not_finite_are_reported() -> None:
    s = summed(relu(iid((4,))), iid((4,)))
    assert ShapedAnalysis(apply("log", X), s).problem
    assert ShapedAnalysis(apply("relu", X), s).problem is None


def test_volatile_parts_move_the_mean() -> None:
    """A branch whose power scatters by V = 0.5: E[relu(u + sqrt(r) v)] against 10^6 samples, 1 %."""
    u, v = relu(iid((4,))), iid((4,)).but(volatility=np.full(2, 0.5))
    h = relu(summed(u, v))
    rng = np.random.default_rng(3)
    s = np.log(1.5)
    r = np.exp(-s / 2 + np.sqrt(s) * rng.standard_normal(10**6))
    t = np.maximum(np.maximum(rng.standard_normal(10**6), 0) + np.sqrt(r) * rng.standard_normal(10**6), 0)
    assert h.mean == pytest.approx(float(t.mean()), rel=0.01)
    assert h.second == pytest.approx(float(np.mean(t * t)), rel=0.01)
