"""Softmax over rows: second moments of the weights, with or without a mask.

Let C(S) = K(S \\ a) - K(S \\ a with a) be the covariance of the logits beyond what a whole row shares (which
a softmax does not see), for two rows that differ on S. A row of l live entries has

    E[p_i p'_i] = A_l(C)    (from `softmax_moments`),     sum_ij p_i p'_j = 1,

so the moment of entries at different places of the row follows from the sum. Under a mask two rows have
lengths l, l' and o common live entries; with R_l(C) = l^2 A_l(C)

    E[p_i p'_i] = sqrt(R_l R_l') / (l l')  at the o common places,   the rest again from the sum,

averaged over all pairs of rows that differ on S. Dead entries are zeros of the result.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..gaussian.softmax_moments import pair_moments
from . import axes as K_axes
from .masks import Lengths, Mask, Rows
from .profiles import Array
from .signal import Signal


def row_covariance(K: Array, axis: int) -> Array:
    """C(S) over the other axes."""
    return K_axes.same(K, axis) - K_axes.different(K, axis)


def softmax_moments_of(K: Array, shape: tuple[int, ...], axis: int, live: Mask | None) -> tuple[float, Array]:
    """(mean, K) of the softmax along `axis` of Gaussian logits with moments `K`."""
    n = shape[axis]
    C = row_covariance(K, axis)
    variance = max(float(C.flat[0]), 0.0)
    if n == 1:
        return 1.0, np.ones_like(K)
    if live is None or bool(np.all(live)):
        same = _alike(n, variance, C)
        different = (1.0 - n * same) / (n * (n - 1.0))
        return 1.0 / n, K_axes.of_both(same, different, axis)
    rows = Rows.of(live, shape, axis)
    ratios = np.stack([k * k * _alike(k, variance, C) for k in rows.lengths.nodes.tolist()], axis=-1)
    same, different = rows.moments(ratios)
    return float(np.mean(rows.lengths.each > 0)) / n, K_axes.of_both(same, different, axis)


def _alike(n: int, variance: float, C: Array) -> Array:
    """E[p_i p'_i] of two rows of n entries; logits of no variance to speak of give equal weights."""
    if n == 1 or variance < 1e-15:
        return np.full(C.shape, 1.0 / (n * n))
    return np.asarray(pair_moments(n, variance, C.ravel()), float).reshape(C.shape)


def square_sums(lengths: Lengths, variance: float) -> Array:
    """E[sum p^2] of rows of these lengths (0 for an empty row)."""
    nodes = lengths.nodes
    values = np.array([float(_alike(k, variance, np.array([variance]))[0]) * k for k in nodes.tolist()])
    return np.asarray(lengths.between(nodes * values) / np.maximum(lengths.each, 1))


def row_lengths(live: Mask | None, shape: tuple[int, ...], axis: int) -> Lengths:
    """Live entries of every row, broadcastable to `shape` with `axis` of size 1."""
    return _alike_rows(shape[axis], len(shape)) if live is None else Rows.of(live, shape, axis).placed(axis)


@lru_cache(maxsize=256)
def _alike_rows(n: int, ndim: int) -> Lengths:
    return Lengths(np.full((1,) * ndim, n))


def row_profiles(values: Array, ndim: int) -> tuple[Array | None, ...]:
    """Per-axis profiles (mean 1) of a quantity known for every row."""
    profiles: list[Array | None] = [None] * ndim
    level = float(values.mean())
    for axis in range(ndim):
        if values.shape[axis] > 1 and level > 0.0:
            marginal = values.mean(axis=tuple(i for i in range(ndim) if i != axis)) / level
            if float(np.ptp(marginal)) > 1e-6:
                profiles[axis] = np.asarray(marginal, float)
    return tuple(profiles)


STEADY = 0.06
"""Rows whose variance scatters less than this (relative, squared) are taken to have equal variance."""


def _along(axis: int, ndim: int) -> tuple[int, ...]:
    """The pattern of two entries that differ along one axis only."""
    return tuple(1 if a == axis else 0 for a in range(ndim))


def _row_scales(logits: Signal, axis: int) -> list[tuple[float, float]]:
    """(weight, factor) of the variance of a row: narrow heads and mixed heads give rows of unequal variance.

    The factor is log-normal with mean one and the volatility of two entries of one row; three Gauss-Hermite points.
    """
    V = logits.volatility
    spread = 0.0 if V is None else float(V[_along(axis, V.ndim)])
    if spread < STEADY:
        return [(1.0, 1.0)]
    variance = float(np.log1p(min(spread, 2.0)))
    step = float(np.sqrt(3.0 * variance))
    return [(w, float(np.exp(z * step - variance / 2))) for w, z in ((1 / 6, -1.0), (2 / 3, 0.0), (1 / 6, 1.0))]


def softmax_signal(logits: Signal, axis: int, live: Mask | None = None) -> Signal:
    """The softmax of a signal along an axis; `live` (or the signal's own mask) says which entries count."""
    mask = live if live is not None else logits.live
    mean, K, scales = 0.0, np.zeros(logits.K.shape), _row_scales(logits, axis)
    squares = 0.0
    for weight, factor in scales:
        mean, part = softmax_moments_of(logits.K * factor, logits.shape, axis, mask)
        K = K + weight * part
        squares += weight * float(part.flat[0]) ** 2
    profiles = None
    if mask is not None and not bool(np.all(mask)):
        lengths = row_lengths(mask, logits.shape, axis)
        variance = max(float(row_covariance(logits.K, axis).flat[0]), 0.0)
        profiles = row_profiles(square_sums(lengths, variance), logits.ndim)
    made = Signal(logits.shape, mean, K, profiles=profiles)
    V = logits.volatility
    if len(scales) > 1 and V is not None:  # rows of large variance have peaks: the squares of their weights scatter
        shaken = (squares / made.second**2 - 1.0) * np.clip(V / V[_along(axis, V.ndim)], 0.0, 1.0)
        made = made.but(volatility=shaken)
    return made
