"""Moving the axes of a moment table K (shape (2,)*d; index 0 on an axis: same place, 1: different places)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .profiles import Array


def same(K: Array, axis: int) -> Array:
    """The moments of two entries at the same place along `axis`; the axis is gone."""
    return np.asarray(K.take(0, axis=axis))


def different(K: Array, axis: int) -> Array:
    """The moments of two entries at different places along `axis`; the axis is gone."""
    return np.asarray(K.take(1, axis=axis))


def of_both(same: Array, different: Array, axis: int) -> Array:
    """The table with these two along a new axis (`np.stack` of two, in half its time)."""
    made = np.empty((*same.shape[:axis], 2, *same.shape[axis:]))
    before: tuple[Any, ...] = (slice(None),) * axis
    made[(*before, 0)], made[(*before, 1)] = same, different
    return made


def mean_over(K: Array, axis: int, n: int) -> Array:
    """The moments of the mean over an axis of size n: K(same) / n + (1 - 1/n) K(different).

    The axis is gone.
    """
    return same(K, axis) / n + (1.0 - 1.0 / n) * different(K, axis)


def merge(K: Array, axis: int, sizes: Sequence[int]) -> Array:
    """Merge the len(sizes) axes from `axis` on into one. No axes at all make a new one of size 1.

    A different place of the merged axis differs on some subset T of the old ones: the mean over all T but the
    empty one with weights prod_{a in T} (n_a - 1).
    """
    parts = len(sizes)
    if parts == 0:
        return of_both(K, K, axis)
    if parts == 1:
        return K
    table = K.reshape(2**axis, 2**parts, -1)
    made = np.empty((2**axis, 2, table.shape[-1]))
    made[:, 0], made[:, 1] = table[:, 0], _other_places(tuple(sizes)) @ table
    return made.reshape(K.shape[parts - 1 :])


@lru_cache(maxsize=4096)
def _other_places(sizes: tuple[int, ...]) -> Array:
    """The weights of `merge`; where there is no other place, all on the same one."""
    made = np.ones(1)
    for n in sizes:
        made = np.multiply.outer(made, (1.0, n - 1.0)).ravel()
    made[0] = 0.0
    total = float(made.sum())
    return made / total if total else np.eye(1, made.size)[0]


def split(K: Array, axis: int, parts: int) -> Array:
    """Split an axis into `parts`.

    Two entries differ along the old axis if they differ along any of the new.
    """
    if parts == 1:
        return K
    pair = K.reshape(2**axis, 2, -1)
    made = np.empty((2**axis, 2**parts, pair.shape[-1]))
    made[:] = pair[:, 1:]
    made[:, 0] = pair[:, 0]
    return made.reshape((2,) * (K.ndim + parts - 1))


@lru_cache(maxsize=4096)
def shares(shape: tuple[int, ...]) -> Array:
    """w(S) of a shape, S in the order of K: the share of pairs of entries that differ exactly on the axes S."""
    made = np.ones(1)
    for n in shape:
        same = 1 / max(n, 1)
        made = np.multiply.outer(made, (same, 1 - same)).ravel()
    return made


def settle_singletons(K: Array, shape: Sequence[int]) -> Array:
    """Along axes of size 1 copy "same" into "different" (see the convention in `signal`)."""
    if 1 not in shape:
        return K
    K = K.copy()
    for axis, n in enumerate(shape):
        if n == 1:
            pair = K.reshape(1 << axis, 2, -1)
            pair[:, 1] = pair[:, 0]
    return K
