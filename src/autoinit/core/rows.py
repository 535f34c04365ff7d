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

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import axes as K_axes
from .lazy import lazy
from .signal import Array, Signal
from .softmax_moments import pair_moments

MOST_ROWS = 512
"""Pairs of rows are enumerated for up to this many rows; beyond, along an even selection of them."""
MOST_LENGTHS = 12
"""Different row lengths at which the integrals are evaluated; the rest is interpolated in log-log."""

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

_known_rows: dict[tuple[Any, ...], Rows] = {}
"""Masks repeat from layer to layer: their pairs of rows are worked out once."""


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
        return 1.0 / n, np.stack([same, different], axis=axis)
    rows = Rows.of(live, shape, axis)
    same, different = rows.moments(C, variance)
    return float(np.mean(rows.all_lengths > 0)) / n, np.stack([same, different], axis=axis)


def _alike(n: int, variance: float, C: Array) -> Array:
    """E[p_i p'_i] of two rows of n entries; logits of no variance to speak of give equal weights."""
    if n == 1 or variance < 1e-15:
        return np.full(C.shape, 1.0 / (n * n))
    return np.asarray(pair_moments(n, variance, C.ravel()), float).reshape(C.shape)


def square_sums(lengths: NDArray[np.int64], variance: float) -> Array:
    """E[sum p^2] of rows of these lengths (0 for an empty row)."""
    nodes = _nodes(lengths)
    values = np.array([float(_alike(k, variance, np.array([variance]))[0] * k) for k in nodes.tolist()])
    return np.asarray(np.where(lengths > 0, _between(nodes, nodes * values, lengths) / np.maximum(lengths, 1), 0.0))


def _nodes(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    found = np.unique(lengths[lengths > 0])
    if found.size <= MOST_LENGTHS:
        return found
    wanted = np.geomspace(found[0], found[-1], MOST_LENGTHS)
    return np.asarray(np.unique(found[np.searchsorted(found, wanted).clip(0, found.size - 1)]))


def _between(nodes: NDArray[np.int64], values: Array, lengths: NDArray[np.int64]) -> Array:
    if nodes.size == 0:
        return np.zeros(lengths.shape)
    logs = np.interp(np.log(np.maximum(lengths, 1)), np.log(nodes), np.log(np.maximum(values, 1e-300)))
    return np.asarray(np.exp(logs))


@dataclass(frozen=True)
class Rows:
    """The rows of a mask: `live` is (rows, n).

    `places` their index on the axes along which the mask varies.
    """

    n: int
    ndim: int
    varying: tuple[int, ...]
    """Positions, among the axes other than the softmax axis, along which the mask varies."""
    live: Mask
    places: NDArray[np.int64]
    all_lengths: NDArray[np.int64]

    @classmethod
    def of(cls, live: NDArray[Any], shape: tuple[int, ...], axis: int) -> Rows:
        mask = np.asarray(live, bool)
        mask = mask.reshape((1,) * (len(shape) - mask.ndim) + mask.shape)
        mask = np.moveaxis(mask, axis, -1)
        n = shape[axis]
        mask = np.broadcast_to(mask, (*mask.shape[:-1], n))
        key = (mask.shape, len(shape), hash(mask.tobytes()))
        if key not in _known_rows:
            if len(_known_rows) >= 64:
                _known_rows.clear()
            _known_rows[key] = cls._of(mask, len(shape) - 1)
        return _known_rows[key]

    @classmethod
    def _of(cls, mask: Mask, ndim: int) -> Rows:
        n = mask.shape[-1]
        lengths = mask.sum(axis=-1).ravel()
        mask = _thinned(mask)
        varying = tuple(i for i, size in enumerate(mask.shape[:-1]) if size > 1)
        places = np.stack(np.unravel_index(np.arange(int(np.prod(mask.shape[:-1]))), mask.shape[:-1]), axis=1)
        return cls(n, ndim, varying, mask.reshape(-1, n), places[:, list(varying)], lengths)

    def moments(self, C: Array, variance: float) -> tuple[Array, Array]:
        """Tables over the other axes: entries at the same place of their rows, and at different places."""
        lengths = self.live.sum(axis=1)
        same, different = np.zeros_like(C), np.zeros_like(C)
        n = self.n
        nodes = _nodes(self.all_lengths)
        ratios = self._ratios(nodes, C, variance)
        for pattern in product((0, 1), repeat=len(self.varying)):
            share, i, j, overlap = self.pairs[pattern]
            if i.size == 0:
                continue
            for S in product((0, 1), repeat=self.ndim):
                if tuple(S[v] for v in self.varying) != pattern:
                    continue
                if not any(pattern):
                    own = self.all_lengths[self.all_lengths > 0]
                    mass = _between(nodes, ratios[S], own) / own
                    share = own.size / self.all_lengths.size
                else:
                    root = np.sqrt(_between(nodes, ratios[S], lengths) / np.maximum(lengths, 1) ** 2)
                    mass = overlap * root[i] * root[j]
                same[S] = share * float(np.mean(mass)) / n
                different[S] = share * (1.0 - float(np.mean(mass))) / (n * (n - 1.0))
        return same, different

    @lazy
    def pairs(self) -> dict[tuple[int, ...], tuple[float, Places, Places, Array]]:
        """Per pattern of difference.

        The share of pairs with both rows alive, those pairs, their common entries.
        """
        flat = self.live.astype(np.float32)
        overlap = (flat @ flat.T).astype(float)
        alive = self.live.any(axis=1)
        both = np.outer(alive, alive)
        differ = self.places[:, None, :] != self.places[None, :, :]
        found = {}
        for pattern in product((0, 1), repeat=len(self.varying)):
            matching = np.all(differ == np.array(pattern, bool), axis=-1)
            i, j = np.nonzero(matching & both)
            found[pattern] = (i.size / max(int(matching.sum()), 1), i, j, overlap[i, j])
        return found

    @staticmethod
    def _ratios(nodes: NDArray[np.int64], C: Array, variance: float) -> dict[tuple[int, ...], Array]:
        """R_l(C(S)) = l^2 A_l at the nodes, for every S."""
        table = []
        for length in nodes.tolist():
            table.append(length**2 * _alike(length, variance, C))
        stacked = np.array(table).reshape(len(nodes), *C.shape)
        return {S: np.moveaxis(stacked, 0, -1)[S] for S in product((0, 1), repeat=C.ndim)}


def _thinned(mask: Mask) -> Mask:
    """At most MOST_ROWS rows, by an even selection along the longest axis."""
    while int(np.prod(mask.shape[:-1])) > MOST_ROWS:
        longest = int(np.argmax(mask.shape[:-1]))
        rest = int(np.prod(mask.shape[:-1])) // mask.shape[longest]
        keep = max(MOST_ROWS // rest, 2)
        if keep >= mask.shape[longest]:
            break
        chosen = ((np.arange(keep) + 0.5) * mask.shape[longest] / keep).astype(int)
        mask = np.take(mask, chosen, axis=longest)
    return mask


def row_lengths(live: Mask, shape: tuple[int, ...], axis: int) -> NDArray[np.int64]:
    """Live entries of every row, broadcastable to `shape` with `axis` of size 1."""
    mask = np.asarray(live, bool)
    mask = mask.reshape((1,) * (len(shape) - mask.ndim) + mask.shape)
    repeat = shape[axis] if mask.shape[axis] == 1 else 1
    return np.asarray(mask.sum(axis=axis, keepdims=True) * repeat)


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
        made.volatility = (squares / made.second**2 - 1.0) * np.clip(V / V[_along(axis, V.ndim)], 0.0, 1.0)
    return made
