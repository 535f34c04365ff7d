"""Cross moments of signals with a common ancestor, against averages over samples and exact pair counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from autoinit.core.dependence.lineage import MOST_TERMS, aligned, averaged, combination, cross_moment, joined, picked
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Array, Signal, iid

SHAPE = (3, 4, 5)


def dependent(u: Signal, v: Signal) -> bool:
    """Whether the two signals are known to be correlated beyond their means."""
    return not np.allclose(cross_moment(u, v), u.mean * v.mean, rtol=1e-9, atol=0.0)


def source(mean: float = 0.5) -> Signal:
    table = np.full((2, 2, 2), mean**2)
    for S in product((0, 1), repeat=3):
        table[S] += 0.5 * (sum(S) == 0) + 0.3 * (S[2] == 0) + 0.4 * (S[0] == 0)
    return Signal(SHAPE, mean, table)


def brute(u: np.ndarray, v: np.ndarray) -> Array:
    """Mean of u_i v_j over all pairs of places that differ exactly on S, by inverting sums along each axis.

    The sum over all j along an axis holds the n - 1 different places and the same one.
    """
    K = np.zeros((2,) * u.ndim)
    for S in product((0, 1), repeat=u.ndim):
        a, b, factor = u, v, 1.0
        for axis, bit in enumerate(S):
            if bit:
                a, b = a.sum(axis=axis, keepdims=True), b.sum(axis=axis, keepdims=True)
                factor *= u.shape[axis]
        K[S] = float((a * b).sum())
    for axis, n in enumerate(u.shape):
        same, total = np.take(K, 0, axis=axis), np.take(K, 1, axis=axis)
        K = np.stack([same / n, (total - same) / max(n * (n - 1), 1)], axis=axis)
    return K


def against_samples(x: Signal, u: Signal, v: Signal, run: Callable[[Any], tuple[Any, Any]], repeats: int = 1500,
                    error: float = 0.0) -> None:  # fmt: skip
    rng = np.random.default_rng(0)
    tables = np.array([brute(*run(sample(x, rng, None))) for _ in range(repeats)])
    slack = 5 * tables.std(axis=0, ddof=1) / np.sqrt(repeats) + 1e-9 + error * np.sqrt(u.second * v.second)
    assert np.all(np.abs(cross_moment(u, v) - tables.mean(axis=0)) <= slack), (cross_moment(u, v), tables.mean(axis=0))


def mean_of(x: Signal, *axes: int) -> Signal:
    """The mean over axes, broadcast back, with its terms."""
    from autoinit.core.signal.axis_maps import averaged_over

    windows = tuple(float(n) if a in axes else 1.0 for a, n in enumerate(x.shape))
    K = averaged_over(x.K, axes, x.shape)
    return Signal(x.shape, x.mean, K, terms=averaged(x, windows))


def test_brute_force_is_right() -> None:
    u, v = np.random.default_rng(0).normal(size=(2, 2, 3))
    K, count = np.zeros((2, 2)), np.zeros((2, 2))
    for i, j in product(np.ndindex(2, 3), np.ndindex(2, 3)):
        S = tuple(int(a != b) for a, b in zip(i, j, strict=True))
        K[S] += u[i] * v[j]
        count[S] += 1
    np.testing.assert_allclose(brute(u, v), K / count)


@pytest.mark.parametrize("axes", [(0,), (2,), (1, 2), (0, 1, 2)])
def test_with_its_mean(axes: tuple[int, ...]) -> None:
    x = source()
    run = lambda t: (t, np.broadcast_to(t.mean(axes, keepdims=True), t.shape))  # noqa: E731
    against_samples(x, x, mean_of(x, *axes), run)


def test_of_two_means() -> None:
    x = source()
    one, both = mean_of(x, 2), mean_of(x, 1, 2)

    def run(t: Any) -> tuple[Any, Any]:
        rows, planes = t.mean(2, keepdims=True), t.mean((1, 2), keepdims=True)
        return np.broadcast_to(rows, t.shape), np.broadcast_to(planes, t.shape)

    against_samples(x, one, both, run)


def test_of_linear_combinations() -> None:
    """3 x - 2 mean(x) against x + 1."""
    x = source()
    m = mean_of(x, 2)
    K = 9 * x.K + 4 * m.K - 12 * cross_moment(x, m)
    u = Signal(SHAPE, x.mean, K, terms=joined((3.0, x), (-2.0, m)))
    v = Signal.function(x, apply("add", X, 1.0))
    against_samples(x, u, v, lambda t: (3 * t - 2 * t.mean(2, keepdims=True), t + 1))


@pytest.mark.parametrize(("f", "g"), [("relu", "tanh"), ("exp", "sigmoid"), ("relu", "neg")])
def test_of_functions_of_one_source(f: str, g: str) -> None:
    x = source()
    u, v = Signal.function(x, apply(f, X)), Signal.function(x, apply(g, X))
    numpy = {"relu": lambda t: np.maximum(t, 0), "tanh": np.tanh, "exp": np.exp, "neg": np.negative,
             "sigmoid": lambda t: 1 / (1 + np.exp(-t))}  # fmt: skip
    against_samples(x, u, v, lambda t: (numpy[f](t), numpy[g](t)))


def test_of_functions_of_correlated_sources() -> None:
    """relu(x) and tanh(x - mean(x)): first order in the covariance of the sources, 8 % of the root of the powers."""
    x = source(0.0)
    m = mean_of(x, 2)
    centred = Signal(SHAPE, 0.0, x.K + m.K - 2 * cross_moment(x, m), terms=joined((1.0, x), (-1.0, m)))
    u, v = Signal.function(x, apply("relu", X)), Signal.function(centred, apply("tanh", X))
    run = lambda t: (np.maximum(t, 0), np.tanh(t - t.mean(2, keepdims=True)))  # noqa: E731
    against_samples(x, u, v, run, error=0.08)
    assert dependent(u, v)


@pytest.mark.parametrize("level", [1.0, 1e-6])
def test_small_signals_are_related_all_the_same(level: float) -> None:
    """Whether two signals are related does not depend on their scale (layer scales are 1e-6 and less)."""
    x = iid(SHAPE).scaled(1.0)
    small = Signal(SHAPE, 0.0, x.K * level**2)
    m = mean_of(small, 2)
    u = Signal.function(small, apply("mul", X, 2.0))
    np.testing.assert_allclose(cross_moment(u, m)[0, 0], 2 * level**2 / 5, rtol=1e-9)


def test_unrelated_signals_have_the_product_of_their_means() -> None:
    u, v = source(0.5), source(2.0)
    np.testing.assert_array_equal(cross_moment(u, v), np.full((2, 2, 2), 1.0))
    assert not dependent(u, v)
    assert dependent(u, u)


def test_parts_of_one_tensor() -> None:
    """Two different slices hold different entries; the same slice holds the same."""
    x = source()
    first, second = (Signal((3, 4, 2), x.mean, x.K, terms=picked(x, 2, (k, k + 2, 1))) for k in (0, 2))
    against_samples(x, first, second, lambda t: (t[..., :2], t[..., 2:4]))
    np.testing.assert_allclose(cross_moment(first, first), x.K)


def test_offset_of_an_affine_map() -> None:
    x = source()
    y = Signal.function(x, apply("add", apply("mul", X, 3.0), 2.0))
    offset, (term,) = combination(y)
    assert (offset, term.coefficient, term.root) == (2.0, 3.0, x)


def test_long_stories_are_forgotten() -> None:
    x = source()
    assert len(joined(*[(1.0, iid(SHAPE))] * MOST_TERMS)) == MOST_TERMS
    assert joined(*[(1.0, iid(SHAPE))] * (MOST_TERMS + 1)) == ()
    assert joined((1.0, x), (1.0, x))[0].root is x


# --- broadcasting ---------------------------------------------------------------------------------


def test_aligned_adds_and_stretches_axes() -> None:
    x = Signal((1, 4), 0.5, np.array([[1.25, 0.6], [1.25, 0.6]]))
    y = aligned(x, (2, 3, 4))
    assert y.shape == (2, 3, 4)
    np.testing.assert_array_equal(y.K, np.broadcast_to([1.25, 0.6], (2, 2, 2)))
    assert y.correlation(0) == y.correlation(1) == 1.0


def test_aligned_is_remembered_and_keeps_functions() -> None:
    x = iid((4,))
    relu = Signal.function(x, apply("relu", X))
    y = aligned(relu, (3, 4))
    assert aligned(relu, (3, 4)) is y
    assert y.expr is relu.expr and y.source is aligned(x, (3, 4))
    assert aligned(x, (4,)) is x


def test_aligned_keeps_profiles_of_axes_that_stay() -> None:
    p = np.array([0.5, 1.5])
    x = Signal((1, 2), 0.0, iid((1, 2)).K, profiles=(None, p))
    np.testing.assert_array_equal(aligned(x, (3, 5, 2)).profiles[2], p)  # type: ignore[arg-type]
