"""What linear maps along one axis do to a signal.

If y_o = sum_i a_oi x_i along an axis, then E[y_o y_o'] needs only how often the two summed entries coincide.
Averaged over the places o = o' (same) and o != o' (different) of an output of length N, the pair (K same, K
different) is mapped by the 2 x 2 matrix

    same  <- [ Q / N,              (R - Q) / N            ]
    diff  <- [ (C - Q) / N(N-1),   (T^2 - R - C + Q) / N(N-1) ]

with Q = sum a^2, R = sum of squared row totals, C = sum of squared column totals, T = sum a. It is exact for
every window, stride, dilation, border and overlap. E[y_o^2] of single places is the profile of the output.

Entries of unequal size along the axis (a profile p) have amplitudes q = sqrt(p): a_oi q_i takes the place of a_oi,
and moments of different places, which are averages over pairs, are `levelled` first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import axes as K_axes
from .profiles import Array, profile_of
from .signal import Signal


def apart(f: Array, g: Array) -> float:
    """The mean of f_i g_j over i != j; of one value each, their product."""
    n, same = f.size, float(f @ g)
    return (float(f.sum() * g.sum()) - same) / (n * (n - 1)) if n > 1 else same


class Totals(NamedTuple):
    """Sums of the matrix a: of a^2 per output, of a per output, of a per input."""

    squares: Array
    rows: Array
    columns: Array

    def matrix(self) -> Array:
        """That of the module's text."""
        n, total = self.squares.size, float(self.rows.sum())
        q, r, c = float(self.squares.sum()), float(self.rows @ self.rows), float(self.columns @ self.columns)
        other = max(n * (n - 1.0), 1.0)
        return np.array([[q / n, (r - q) / n], [(c - q) / other, (total**2 - r - c + q) / other]])


Linear = Callable[[Array], Totals]
"""A linear map along an axis, asked for the totals of a_oi q_i."""


@dataclass(frozen=True, eq=False)
class Windows:
    """Every output is the sum of `weights` (outputs, window) times the inputs at the places `taps`."""

    taps: NDArray[np.int64]
    weights: Array

    def __call__(self, q: Array) -> Totals:
        a = self.weights * q[self.taps]
        columns = np.bincount(self.taps.ravel(), a.ravel(), q.size).astype(float)
        return Totals(np.square(a).sum(axis=1), a.sum(axis=1), columns)

    @classmethod
    def dense(cls, a: Array) -> Windows:
        """All of a matrix a_oi."""
        return cls(np.broadcast_to(np.arange(a.shape[1]), a.shape), np.asarray(a, float))

    @property
    def copies(self) -> bool:
        """Whether every output is one of the inputs."""
        return self.taps.shape[1] == 1 and bool(np.all(self.weights == 1.0))


def copies(places: NDArray[np.int64], live: NDArray[np.bool_] | None = None) -> Windows:
    """Every output is the input at one place; zero where that is not `live`."""
    weights = np.ones(places.size) if live is None else live.astype(float)
    return Windows(places[:, None], weights[:, None])


def spread(taps: NDArray[np.int64], weights: Array, n: int) -> Linear:
    """The transpose of `Windows`: every output is the sum over the windows that read it, n outputs in all."""

    def totals(q: Array) -> Totals:
        a = weights * q[:, None]
        squares = np.bincount(taps.ravel(), np.square(a).ravel(), n).astype(float)
        return Totals(squares, np.bincount(taps.ravel(), a.ravel(), n).astype(float), a.sum(axis=1))

    return totals


def running(q: Array) -> Totals:
    """The sum of all entries up to a place."""
    return Totals(np.cumsum(q * q), np.cumsum(q), q * np.arange(q.size, 0, -1))


def remaining(q: Array) -> Totals:
    """The sum of all entries behind a place."""
    squares, rows = np.cumsum(q * q), np.cumsum(q)
    return Totals(squares[-1] - squares, rows[-1] - rows, q * np.arange(q.size))


def mapped_along(x: Signal, maps: Mapping[int, Linear]) -> Signal:
    """x through linear maps along some of its axes."""
    K, mean, shape, profiles = x.K, x.mean, list(x.shape), list(x.profiles)
    for axis, linear in maps.items():
        n, p = shape[axis], profiles[axis]
        q = np.ones(n) if p is None else np.sqrt(p)
        made = linear(q)
        shape[axis] = made.rows.size
        if not n or not made.rows.size:
            profiles[axis] = None
            continue
        K = K if p is None else levelled(K, axis, p)
        alone, other = K.flat[0], float(K.reshape(2**axis, 2, -1)[0, 1, 0])
        level = made.squares * alone + (np.square(made.rows) - made.squares) * other
        profiles[axis] = profile_of(level)
        K = transform(K, axis, made.matrix())
        mean *= float(made.rows.mean() / q.mean())
    return Signal(shape, mean, K, profiles=tuple(profiles))


def levelled(K: Array, axis: int, p: Array) -> Array:
    """Places of unequal scale each brought to scale one: a pair counts per mean of q_i q_j, and no pair is more alike
    than an entry is to itself (exact if the moment of two places follows their scales)."""
    q = np.sqrt(np.maximum(p, 0.0))
    pairs = apart(q, q)
    if p.size < 2 or pairs <= 0.0:
        return K
    same, other = K_axes.same(K, axis), K_axes.different(K, axis)
    return K_axes.of_both(same, np.clip(other / pairs, -np.abs(same), np.abs(same)), axis)


def transform(K: Array, axis: int, matrix: Array) -> Array:
    """Apply a 2 x 2 matrix to the (same, different) pair of one axis."""
    return np.asarray(matrix @ K.reshape(2**axis, 2, -1)).reshape(K.shape)


def averaged_over(K: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """K of the mean over `axes`, these kept as axes of size 1."""
    sizes, made = list(K.shape), np.empty(K.shape)
    for axis in axes:
        share = 1.0 / shape[axis]
        K = np.array((share, 1.0 - share)) @ K.reshape(prod(sizes[:axis]), 2, -1)
        sizes[axis] = 1
    made[...] = K.reshape(sizes)
    return made


def at_same(K: Array, axes: Sequence[int]) -> Array:
    """K at the same place of `axes` for every pattern: that of axes of size 1."""
    for axis in axes:
        K = np.repeat(np.take(K, [0], axis=axis), 2, axis=axis)
    return K


@lru_cache(maxsize=4096)
def within(shape: tuple[int, ...], axes: frozenset[int] = frozenset()) -> NDArray[np.bool_]:
    """True for two entries that differ on none but these axes, and those of size 1."""
    table = np.ones((2,) * len(shape), bool)
    for axis, n in enumerate(shape):
        if axis not in axes and n > 1:
            table[(slice(None),) * axis + (1,)] = False
    return table


def placed(K: Array, axes: Sequence[int], ndim: int) -> Array:
    """The table of a tensor whose axes are `axes` of a tensor of rank `ndim` that it broadcasts to."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    table = np.transpose(K, order)
    for axis in range(ndim):
        if axis not in axes:
            table = K_axes.of_both(table, table, axis)
    return table
