"""The signal: moments of arrays by brute force, whole-tensor statistics, provenance."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import LONGEST_CHAIN, Signal, constant, iid, independent

SHAPES = [(), (1,), (5,), (3, 4), (2, 1, 3), (2, 3, 2, 2), (1, 1)]


def brute(x: np.ndarray) -> Any:
    """K(S) by a loop over all pairs of indices; along axes of size 1 "different" is "same" by convention."""
    total, count = np.zeros((2,) * x.ndim), np.zeros((2,) * x.ndim)
    places = list(np.ndindex(*x.shape))
    for i, j in product(places, places):
        S = tuple(int(a != b) for a, b in zip(i, j, strict=True))
        total[S] += x[i] * x[j]
        count[S] += 1
    K = np.where(count > 0, total / np.maximum(count, 1), 0.0)
    for axis, n in enumerate(x.shape):
        if n == 1:
            K = np.repeat(np.take(K, [0], axis=axis), 2, axis=axis)
    return K


def mixed(shape: tuple[int, ...], mean: float = 1.0) -> Signal:
    """Correlations 0.3, 0.4, ... along the axes, which multiply."""
    table = np.full((2,) * len(shape), mean**2)
    for S in product((0, 1), repeat=len(shape)):
        table[S] += float(np.prod([1.0 if not bit else 0.3 + 0.1 * a for a, bit in enumerate(S)]))
    return Signal(shape, mean, table)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", [0.0, -3.0])
def test_from_array_is_the_average_over_pairs(shape: tuple[int, ...], mean: float) -> None:
    x = np.random.default_rng(len(shape)).normal(mean, 2.0, shape)
    signal = from_array(x)
    np.testing.assert_allclose(signal.K, brute(x), atol=1e-12)
    assert signal.mean == pytest.approx(float(x.mean()))


def test_from_array_of_nothing() -> None:
    signal = from_array(np.zeros((0, 3)))
    assert signal.shape == (0, 3) and signal.mean == 0.0 and np.isfinite(signal.K).all()


def test_from_array_of_integers_and_booleans() -> None:
    assert from_array(np.array([True, False, True, True])).mean == 0.75
    assert from_array(np.arange(3)).second == pytest.approx(5 / 3)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 1, 3), (2, 3, 2, 2)])
def test_whole_tensor_statistics_of_one_array(shape: tuple[int, ...]) -> None:
    """For an array's own moments the two sums over S are its mean square and x.var() exactly."""
    x = np.random.default_rng(1).normal(1.5, 2.0, shape)
    signal = from_array(x)
    assert signal.tensor_mean_square() == pytest.approx(float(x.mean() ** 2), rel=1e-10)
    assert signal.tensor_variance() == pytest.approx(float(x.var()), rel=1e-10)


@pytest.mark.parametrize(
    "signal", [iid((4, 5), 2.0, 3.0), mixed((4, 5)), mixed((3, 2, 4), -1.0), constant((3, 2), 2.0)]
)
def test_tensor_variance_is_the_average_of_var(signal: Signal) -> None:
    """Five standard errors of the mean over 4000 samples."""
    rng = np.random.default_rng(0)
    found = np.array([sample(signal, rng, None).var() for _ in range(4000)])
    slack = 5 * found.std(ddof=1) / np.sqrt(len(found)) + 1e-12
    assert abs(found.mean() - signal.tensor_variance()) <= slack
    assert signal.tensor_variance() <= signal.variance + 1e-12


def test_correlation_is_what_was_put_in() -> None:
    signal = mixed((4, 5, 6))
    assert [signal.correlation(a) for a in (0, 1, 2)] == pytest.approx([0.3, 0.4, 0.5])
    assert signal.correlation(-1) == pytest.approx(0.5)
    assert constant((3,), 2.0).correlation(0) == 0.0


def test_independent_keeps_mean_and_variance_only() -> None:
    signal = mixed((4, 5), 2.0)
    plain = independent(signal)
    assert (plain.mean, plain.variance) == pytest.approx((signal.mean, signal.variance))
    assert all(v == pytest.approx(4.0) for v in plain.K.ravel()[1:])


def test_whole_numbers_are_numbers() -> None:
    assert iid((3,), 0, 0.5).second == 0.5
    assert constant((3,), 2).second == 4.0


def test_axes_of_size_one_have_no_different_places() -> None:
    signal = Signal((1, 3), 0.0, np.array([[2.0, 1.0], [9.0, 9.0]]))
    np.testing.assert_array_equal(signal.K, [[2.0, 1.0], [2.0, 1.0]])


def test_function_of_a_source() -> None:
    """relu of N(0, 1): mean 1/sqrt(2 pi), E = 1/2; pairs by the arc-cosine kernel."""
    source = mixed((3, 4), 0.0)
    signal = Signal.function(source, apply("relu", X))
    assert signal.mean == pytest.approx(1 / np.sqrt(2 * np.pi))
    assert signal.second == pytest.approx(0.5)
    rho = source.covariance
    kernel = (np.sqrt(np.maximum(1 - rho**2, 0)) + rho * (np.pi - np.arccos(np.clip(rho, -1, 1)))) / (2 * np.pi)
    np.testing.assert_allclose(signal.K, kernel, rtol=1e-9)
    assert Signal.function(source, X) is source


def test_scaled_keeps_its_provenance() -> None:
    source = mixed((3, 4))
    doubled = Signal.function(source, apply("relu", X)).scaled(-2.0)
    relu = Signal.function(source, apply("relu", X))
    assert doubled.source is source
    np.testing.assert_allclose(doubled.K, 4 * relu.K)
    assert doubled.mean == pytest.approx(-2 * relu.mean)
    assert source.scaled(1.0) is source


def test_long_chains_are_cut() -> None:
    signal = iid((3, 4))
    for _ in range(LONGEST_CHAIN + 2):
        signal = Signal.function(signal.source, apply("tanh", signal.expr))
    assert signal.expr.depth <= LONGEST_CHAIN
    assert 0 < signal.variance < 0.1


def test_is_constant() -> None:
    assert constant((2, 2), 3.0).is_constant and constant((2,), 0.0).is_constant
    assert not iid((2,), 1e5, 1.0).is_constant
    assert Signal.function(iid((2,)), apply("mul", X, 0.0)).is_constant


def test_profiles_bend_with_the_function() -> None:
    """E[f^2] ~ p at a place for relu (slope 1), p^2 for a square: its mean over places grows by mean(p^2)."""
    p = np.array([0.5, 1.5])
    source = Signal((4, 2), 0.0, iid((4, 2)).K, profiles=(None, p))
    relu = Signal.function(source, apply("relu", X))
    assert relu.second == pytest.approx(0.5)
    np.testing.assert_allclose(relu.profiles[1], p)  # type: ignore[arg-type]
    square = Signal.function(source, apply("square", X))
    assert square.second == pytest.approx(3.0 * np.mean(p**2), rel=1e-3)
    np.testing.assert_allclose(square.profiles[1], p**2 / np.mean(p**2), rtol=1e-3)  # type: ignore[arg-type]


def test_materialised_forgets_the_source() -> None:
    signal = Signal.function(mixed((3, 4)), apply("relu", X))
    fresh = signal.materialised()
    assert fresh.source is fresh
    np.testing.assert_array_equal(fresh.K, signal.K)
