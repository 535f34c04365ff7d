"""Orthogonal matrices, a few vectors at a time.

A matrix of k orthonormal vectors of length n >= k. Small ones are the factor Q of a matrix of normal numbers. Larger
ones are rows of products of the cosine transform C, a random permutation P and random signs S, S',

    Q = C P S C S',

which is orthogonal, has entries that are as good as normal, and costs n log n per vector. Every vector is made by
itself: a shard needs no more memory than its own. The transforms and factors are SciPy's and NumPy's; their last bits
may depend on the machine, but not on which vectors are made together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from math import pi, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from . import threads
from .unit import unit
from .words import Words, key_of

Array = NDArray[Any]
Indices = NDArray[np.int64]
SMALL = 64
"""Vectors up to this length come from a factorisation."""
CHUNK = 2**18
"""Entries that are worked on at a time."""


class Orthogonal:
    """A part of a parameter with orthonormal rows in each group, or columns if these are fewer, times a factor.

    rows: the axes of the part that run over outputs, groups first; the others are columns. Entries of orthonormal
    vectors of length n have mean square 1/n; here they get `std`^2.
    """

    def __init__(self, key: int, shape: Sequence[int], rows: Sequence[int], groups: int, std: float) -> None:
        rest = [a for a in range(len(shape)) if a not in rows]
        outputs, self.columns = prod(shape[a] for a in rows), prod(shape[a] for a in rest)
        self.groups = groups if groups > 1 and outputs % groups == 0 else 1
        self.key, self.shape, self.axes, self.rows = key, tuple(shape), (list(rows), rest), outputs // self.groups
        self.n, self.k = max(self.rows, self.columns), min(self.rows, self.columns)
        self.wide = self.rows <= self.columns
        self.scale = np.float32(std * self.n**0.5)

    def into(self, out: Array, low: Sequence[int]) -> None:
        """Write the rectangle out.shape at `low` of the part, some vectors at a time."""
        apart = self.axes[0 if self.wide else 1]
        if not apart or out.size == 0:
            self._piece(out, list(low))
            return
        axis = apart[0]
        per_place = prod(out.shape[a] for a in apart[1:])
        step = max(CHUNK // max(self.n * per_place, 1), 1)
        threads.run(
            partial(self._piece, out[(slice(None),) * axis + (slice(at, at + step),)],
                    [n + at if a == axis else n for a, n in enumerate(low)])
            for at in range(0, out.shape[axis], step)
        )  # fmt: skip

    def _piece(self, out: Array, low: list[int]) -> None:
        rows, columns = (self._numbers(axes, out.shape, low) for axes in self.axes)
        groups, own = np.divmod(rows, self.rows)
        if self.n <= SMALL:
            whole = _factors(self.key, self.groups, self.k, self.n)
            vector, place = (own[:, None], columns) if self.wide else (columns, own[:, None])
            made = whole[groups[:, None], vector, place]
        else:
            made = np.empty((rows.size, columns.size), dtype=np.float32)
            for group in np.unique(groups):
                here = groups == group
                made[here] = self._vectors(int(group), own[here], columns)
        made = made * self.scale
        order = [*self.axes[0], *self.axes[1]]
        out.transpose(order)[...] = made.reshape([out.shape[a] for a in order])

    def _numbers(self, axes: Sequence[int], shape: Sequence[int], low: Sequence[int]) -> Indices:
        """The numbers of rows (or columns) in a rectangle."""
        made = np.zeros(1, dtype=np.int64)
        for a in axes:
            made = (made[:, None] * self.shape[a] + np.arange(low[a], low[a] + shape[a])).reshape(-1)
        return made

    def _vectors(self, group: int, rows: Indices, columns: Indices) -> Array:
        """Entries of the matrix of a group: places of its vectors, which are the fewer of rows and columns."""
        numbers, places = (rows, columns) if self.wide else (columns, rows)
        order, signs, last = _mixing(self.key, group, self.n)
        integer = np.uint32 if 2 * self.n * self.n < 2**32 else np.uint64
        index = numbers.astype(integer)[:, None] * (2 * order + 1).astype(integer)
        index %= integer(4 * self.n)
        made = _cosines(self.n)[index]
        made[numbers == 0] *= np.float32(0.5**0.5)
        made *= signs
        made = dct(made, norm="ortho", overwrite_x=True)
        made *= last
        made = made if places.size == self.n else made[:, places]
        return np.asarray(made if self.wide else made.T)


@lru_cache(maxsize=8)
def _cosines(n: int) -> Array:
    """sqrt(2/n) cos(pi m / 2n), m = 0 ... 4n - 1."""
    return np.asarray(np.cos(np.arange(4 * n) * (pi / (2 * n))) * (2 / n) ** 0.5, np.float32)


@lru_cache(maxsize=8)
def _mixing(key: int, group: int, n: int) -> tuple[Indices, Array, Array]:
    """A permutation and two rows of signs."""
    words = Words(key_of(group, f"mixing {key}")).read(0, 3 * n).reshape(3, n)
    signs = np.where(words[1:] >> np.uint32(31), np.float32(1), np.float32(-1))
    return np.argsort(words[0], kind="stable"), signs[0], signs[1]


@lru_cache(maxsize=8)
def _factors(key: int, groups: int, k: int, n: int) -> Array:
    """k orthonormal vectors for every group."""
    words = Words(key_of(0, f"factors {key}")).read(0, groups * k * n).copy()
    q, r = np.linalg.qr(unit(words, "normal").reshape(groups, n, k).astype(np.float64))
    signs = np.where(np.diagonal(r, axis1=1, axis2=2) < 0, -1.0, 1.0)
    return np.asarray((q * signs[:, None, :]).swapaxes(1, 2), np.float32)


def orthogonal(gaussian: Array, rows: Sequence[int], groups: int, std: float) -> Array:
    """The same from given normal numbers, which may be complex (then unitary), all at once."""
    shape = gaussian.shape
    order = [*rows, *(a for a in range(len(shape)) if a not in rows)]
    count = prod(shape[a] for a in rows)
    groups = groups if groups > 1 and count % groups == 0 else 1
    matrices = gaussian.transpose(order).reshape(groups, count // groups, -1)
    tall = matrices.shape[1] >= matrices.shape[2]
    q, r = np.linalg.qr(matrices if tall else matrices.swapaxes(1, 2))
    diagonal = np.diagonal(r, axis1=1, axis2=2)
    size = np.abs(diagonal)
    q = q * np.where(size > 0, diagonal / np.where(size > 0, size, 1), 1)[:, None, :]
    made = (q if tall else q.swapaxes(1, 2)) * (std * max(matrices.shape[1:]) ** 0.5)
    return np.asarray(made.reshape([shape[a] for a in order]).transpose(np.argsort(order)))
