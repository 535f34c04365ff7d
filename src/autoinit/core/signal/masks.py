"""Masks: which entries a softmax sees, how many of each row are alive, and how many two rows have in common.

A mask is the same in every layer of a model, so what follows from it is worked out once (`Rows.of`). Matrices over
pairs of rows turn a mean over all pairs that differ on some axes into a quadratic form.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..gaussian.functions import Array
from ..lazy import lazy

DEAD = -1e4
"""A value at or below this switches an entry off for the softmax that follows."""

FAINT = -20.0
"""So does a smaller one, if an array holds nothing but it and zeros (exp(-20) is 2e-9)."""

MOST_ROWS = 512
"""Pairs of rows are enumerated for up to this many rows; beyond, along an even selection of them."""
MOST_LENGTHS = 12
"""Different row lengths at which the integrals are evaluated; the rest is interpolated in log-log."""
MOST_MASKS = 64

Mask = NDArray[np.bool_]


def dead_entries(values: NDArray[Any]) -> Mask:
    """True where an additive mask switches an entry off."""
    lowest = float(values.min()) if values.size else 0.0
    if DEAD < lowest <= FAINT and bool(np.all((values == 0.0) | (values == lowest))):
        return np.asarray(values == lowest)
    return np.asarray(values <= DEAD)


@lru_cache(maxsize=16)
def causal_mask(queries: int, keys: int) -> Mask:
    """Which keys each query may see; one array for all who ask."""
    return unchanging(np.tri(queries, keys, dtype=bool))


def unchanging(mask: Mask) -> Mask:
    """The same array, which nobody can write any more: what follows from it is found again by its identity."""
    mask.flags.writeable = False
    return mask


@dataclass(frozen=True)
class Lengths:
    """Live entries of each row."""

    each: NDArray[np.int64]

    @lazy
    def nodes(self) -> NDArray[np.int64]:
        """The lengths at which integrals are evaluated."""
        found = np.unique(self.each[self.each > 0])
        if found.size <= MOST_LENGTHS:
            return found
        wanted = np.geomspace(found[0], found[-1], MOST_LENGTHS)
        return np.asarray(np.unique(found[np.searchsorted(found, wanted).clip(0, found.size - 1)]))

    def between(self, values: Array, of: Lengths | None = None) -> Array:
        """Positive values, known at the nodes, for every row (or for every one of others; 0 for an empty one)."""
        rows = of or self
        if self.nodes.size == 0:
            return np.zeros(rows.each.shape)
        logs = np.interp(rows._logs, np.log(self.nodes), np.log(np.maximum(values, 1e-300)))
        return np.asarray(np.exp(logs) * (rows.each > 0))

    @lazy
    def _logs(self) -> Array:
        return np.asarray(np.log(np.maximum(self.each, 1)))


@dataclass(frozen=True)
class Pairs:
    """Of all pairs of rows that differ on given axes: the share with both alive, and what these have in common."""

    share: float
    common: Array
    """Common entries over the number of such pairs: a mean over them of o_ij r_i r_j is r' common r."""


@dataclass(frozen=True)
class Rows:
    """The rows of a mask over n entries each, of a tensor that has `ndim` other axes."""

    n: int
    ndim: int
    mask: Mask
    """(..., n): the other axes as in the tensor, of size one where the mask does not vary."""

    @classmethod
    def of(cls, live: NDArray[Any], shape: tuple[int, ...], axis: int) -> Rows:
        """Found again by the identity of an array that cannot change, otherwise by its contents."""
        own = not live.flags.writeable and live.base is None
        name = (id(live), shape, axis)
        if own and name in _by_identity and _by_identity[name][0]() is live:
            return _by_identity[name][1]
        mask = np.asarray(live, bool)
        mask = mask.reshape((1,) * (len(shape) - mask.ndim) + mask.shape)
        mask = np.moveaxis(mask, axis, -1)
        mask = np.broadcast_to(mask, (*mask.shape[:-1], shape[axis]))
        key = (mask.shape, len(shape), mask.tobytes())
        rows = _by_contents.get(key)
        if rows is None:
            rows = cls(shape[axis], len(shape) - 1, unchanging(mask.copy()))
            _forget(_by_contents)
            _by_contents[key] = rows
        if own:
            _forget(_by_identity)
            _by_identity[name] = weakref.ref(live), rows
        return rows

    @lazy
    def lengths(self) -> Lengths:
        return Lengths(self.mask.sum(axis=-1).ravel())

    def placed(self, axis: int) -> Lengths:
        """The lengths where their rows are: as the tensor, of size one along `axis`."""
        if axis not in self._placed:
            each = self.lengths.each.reshape(self.mask.shape[:-1])
            self._placed[axis] = Lengths(np.expand_dims(each, axis))
        return self._placed[axis]

    @lazy
    def _placed(self) -> dict[int, Lengths]:
        return {}

    @lazy
    def thin(self) -> Mask:
        """At most MOST_ROWS rows, by an even selection along the longest axis."""
        mask = self.mask
        while prod(mask.shape[:-1]) > MOST_ROWS:
            longest = int(np.argmax(mask.shape[:-1]))
            rest = prod(mask.shape[:-1]) // mask.shape[longest]
            keep = max(MOST_ROWS // rest, 2)
            if keep >= mask.shape[longest]:
                break
            chosen = ((np.arange(keep) + 0.5) * mask.shape[longest] / keep).astype(int)
            mask = np.take(mask, chosen, axis=longest)
        return mask

    @lazy
    def varying(self) -> tuple[int, ...]:
        """Positions, among the axes other than that of the rows, along which the mask varies."""
        return tuple(i for i, size in enumerate(self.thin.shape[:-1]) if size > 1)

    @lazy
    def thin_lengths(self) -> Lengths:
        return Lengths(self.thin.sum(axis=-1).ravel())

    @lazy
    def pairs(self) -> dict[tuple[int, ...], Pairs]:
        """Per pattern of difference on the varying axes."""
        live = self.thin.reshape(-1, self.n)
        index = np.unravel_index(np.arange(len(live)), self.thin.shape[:-1])
        differ = np.stack([index[v][:, None] != index[v] for v in self.varying], axis=-1)
        flat = live.astype(np.float32)
        overlap = (flat @ flat.T).astype(float)
        alive = live.any(axis=1)
        both = np.outer(alive, alive)
        found = {}
        for pattern in product((0, 1), repeat=len(self.varying)):
            matching = np.all(differ == np.array(pattern, bool), axis=-1)
            seen = matching & both
            count = int(seen.sum())
            found[pattern] = Pairs(count / max(int(matching.sum()), 1), np.where(seen, overlap, 0.0) / max(count, 1))
        return found

    def moments(self, ratios: Array) -> tuple[Array, Array]:
        """Moments of entries at the same place of their rows, and at different places, over the other axes.

        `ratios` is l^2 A_l over the other axes and, last, the nodes of the lengths.
        """
        shape, n = ratios.shape[:-1], self.n
        same, different = np.zeros(shape), np.zeros(shape)
        own = self.lengths
        alive = int((own.each > 0).sum())
        for S in product((0, 1), repeat=self.ndim):
            pattern = tuple(S[v] for v in self.varying)
            if not any(pattern):
                share = alive / own.each.size
                mass = float((own.between(ratios[S]) / np.maximum(own.each, 1)).sum()) / max(alive, 1)
            else:
                pair = self.pairs[pattern]
                share = pair.share
                root = np.sqrt(own.between(ratios[S], self.thin_lengths)) / np.maximum(self.thin_lengths.each, 1)
                mass = float(root @ pair.common @ root)
            if share > 0.0:
                same[S] = share * mass / n
                different[S] = share * (1.0 - mass) / (n * (n - 1.0))
        return same, different


_by_identity: dict[tuple[int, tuple[int, ...], int], tuple[weakref.ref[Any], Rows]] = {}
_by_contents: dict[tuple[Any, ...], Rows] = {}


def _forget(known: dict[Any, Any]) -> None:
    if len(known) >= MOST_MASKS:
        known.clear()
