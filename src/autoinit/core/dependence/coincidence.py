"""How often two views of one tensor meet the same entry.

Along an axis of the base, each view's index is a sum of digits of its own, start + sum_j stride_j digit_j, or it is
averaged over. `chances` gives, for one axis of the base, the chance that both have the same index there, where along
each of their own axes they have the same index or each any one; from that follow the patterns "same or different".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph.canonical.layout import Axis, Cut, Digit, Layout, Repeat

Array = NDArray[np.float64]
LARGEST = 2**16
"""Grids of indices beyond this are not counted out."""


class Use(NamedTuple):
    """One digit of a view's index and the stride that it has in the base: stride · ((i_axis // low) % size)."""

    axis: int
    low: int
    size: int
    stride: int


class Index(NamedTuple):
    """An index of the base as the view has it; around a circle of `size` places."""

    uses: tuple[Use, ...]
    start: int
    size: int
    averaged: tuple[tuple[int, int], ...] = ()
    """Digits (stride, size) of the base that are averaged over."""


def index_of(view: Layout, root: Axis) -> Index | None:
    """None: averaged over. Raises ValueError where the axis was cut in a way that is not followed."""
    uses: list[Use] = []
    start, found, total = 0, False, 1
    digits: list[tuple[int, int]] = []
    for axis, parts in enumerate(view.axes):
        low = 1
        for part in reversed(parts):
            if not isinstance(part, Repeat):
                if part.root == root:
                    uses.append(Use(axis, low, part.size, part.stride))
                    digits.append((part.stride, part.size))
                    total *= part.size
                    found = True
                elif isinstance(part.root, Cut) and _holds(part.root, root):
                    cut = part.root
                    if cut.of != (Digit(root, 1, root.size),) or part.stride != 1 or part.size != cut.size:
                        raise ValueError("a part of a part")
                    uses.append(Use(axis, low, part.size, cut.step))
                    start, total, found = start + cut.start, root.size, True
            low *= part.size
    for digit, index in view.fixed:
        if digit.root == root:
            digits.append((digit.stride, digit.size))
            start, total, found = start + digit.stride * index, total * digit.size, True
        elif isinstance(digit.root, Cut) and _holds(digit.root, root):
            raise ValueError("a place of a part")
    if not found:
        return None
    missing = () if total == root.size else _missing(digits, root.size)
    return Index(tuple(sorted(uses)), start, root.size, missing)


def _missing(digits: list[tuple[int, int]], size: int) -> tuple[tuple[int, int], ...]:
    """The digits between those that a view has."""
    found, reached = [], 1
    for stride, n in (*sorted(digits), (size, 1)):
        if stride % reached:
            raise ValueError("digits that overlap")
        if stride > reached:
            found.append((reached, stride // reached))
        reached = stride * n
    return tuple(found)


def _without(index: Index, gone: tuple[tuple[int, int], ...]) -> Index:
    """The other digits of an index, those in `gone` left out."""
    uses = list(index.uses)
    for stride, n in gone:
        for edge in (stride, stride * n):
            uses = [half for use in uses for half in _split(use, edge)]
    inside = [any(s <= use.stride < s * n for s, n in gone) for use in uses]
    start = index.start - sum(index.start // s % n * s for s, n in gone)
    return Index(tuple(sorted(u for u, out in zip(uses, inside, strict=True) if not out)), start, index.size)


def _split(use: Use, edge: int) -> tuple[Use, ...]:
    """A digit cut in two where the strides of the base pass an edge."""
    if not use.stride < edge < use.stride * use.size:
        return (use,)
    low, rest = divmod(edge, use.stride)
    if rest or use.size % low:
        raise ValueError("digits that do not fit")
    return Use(use.axis, use.low, low, use.stride), Use(use.axis, use.low * low, use.size // low, edge)


def _holds(cut: Cut, root: Axis) -> bool:
    return any(
        isinstance(part, Digit) and (part.root == root or (isinstance(part.root, Cut) and _holds(part.root, root)))
        for part in cut.of
    )


@lru_cache(maxsize=4096)
def chances(one: Index | None, two: Index | None, shape: tuple[int, ...], size: int) -> Array:
    """The chance of the same index, as an array that broadcasts to (2,) * len(shape): along each axis the views have
    the same index (0), or each has any of its own (1)."""
    flat = np.ones((1,) * len(shape))
    if one is None or two is None:
        return flat / size
    gone = (*one.averaged, *(d for d in two.averaged if d not in one.averaged))
    if gone:
        if any(a <= b < a * n for a, n in gone for b, m in gone if (a, n) != (b, m)):
            raise ValueError("averages that overlap")
        chance = chances(_without(one, gone), _without(two, gone), shape, size)
        return np.asarray(chance / prod(n for _, n in gone))
    if one == two:
        for axis in {use.axis for use in one.uses}:
            flat = flat * _along(axis, len(shape), 1.0, 1.0 / prod(use.size for use in one.uses if use.axis == axis))
        return flat
    axes = sorted({use.axis for use in (*one.uses, *two.uses)})
    if len(axes) == 1 or (len(one.uses) == len(two.uses) == 1):
        if len(axes) == 1:
            a, b = _values(one, shape[axes[0]]), _values(two, shape[axes[0]])
            return flat * _along(axes[0], len(shape), float(np.mean(a == b)), _meet(a, b, size))
        a, b = _values(one, shape[one.uses[0].axis]), _values(two, shape[two.uses[0].axis])
        return flat * _meet(a, b, size)
    return _counted(one, two, shape, size, axes)


def _meet(a: NDArray[np.int64], b: NDArray[np.int64], size: int) -> float:
    """The chance that one of the first and one of the second are the same."""
    return float(np.bincount(a, minlength=size) @ np.bincount(b, minlength=size)) / (len(a) * len(b))


def _meet_in_rows(a: NDArray[np.int64], b: NDArray[np.int64], size: int) -> float:
    """The mean over rows of the chance that one of the first's row and one of the second's are the same."""
    rows = np.arange(len(a))[:, None] * size
    (one, many), (two, more) = (np.unique(x + rows, return_counts=True) for x in (a, b))
    _, i, j = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    met = float(np.dot(many[i], more[j]))
    return met / float(a.shape[1] * b.shape[1] * len(a))


def _along(axis: int, ndim: int, same: float, different: float) -> Array:
    return np.array([same, different]).reshape([2 if a == axis else 1 for a in range(ndim)])


def _values(index: Index, n: int) -> NDArray[np.int64]:
    """The index of the base for every index of the one axis that is used (a fixed one: for any axis)."""
    i = np.arange(n)
    made = np.full(n, index.start)
    for use in index.uses:
        made = made + use.stride * ((i // use.low) % use.size)
    return made % index.size


def _counted(one: Index, two: Index, shape: Sequence[int], size: int, axes: Sequence[int]) -> Array:
    """Count over the grid of all axes involved."""
    grid = [shape[a] for a in axes]
    if int(np.prod(grid)) > LARGEST:
        raise ValueError("too many indices to count")
    places = np.indices(grid)
    made = []
    for index in (one, two):
        values = np.full(grid, index.start)
        for use in index.uses:
            values = values + use.stride * ((places[axes.index(use.axis)] // use.low) % use.size)
        made.append(values % index.size)
    table = np.empty((2,) * len(axes))
    for free in np.ndindex(*table.shape):  # 1: the indices along this axis are drawn apart
        kept = [k for k, apart in enumerate(free) if not apart]
        moved = [
            np.moveaxis(m, kept, range(len(kept))).reshape(int(np.prod([grid[k] for k in kept])), -1) for m in made
        ]
        table[free] = _meet_in_rows(moved[0], moved[1], size)
    full = [1] * len(shape)
    for axis in axes:
        full[axis] = 2
    return table.reshape(full)


def pushed(table: Array, base: int, sizes: Sequence[int], one: Layout, two: Layout, shape: Sequence[int]) -> Array:
    """A table over the patterns of the base's axes as one over those of two views of it."""
    table = table.reshape(table.shape + (1,) * len(shape))
    for number, n in enumerate(sizes):
        if n == 1:
            table = table[0]
            continue
        root = Axis(base, number, n)
        g = chances(index_of(one, root), index_of(two, root), tuple(shape), n)
        table = g * table[0] + (1.0 - g) * table[1]
    table = np.array(np.broadcast_to(table, (2,) * len(shape)))
    for axis, n in enumerate(shape):  # apart = same / n + (1 - 1/n) different
        if n > 1:
            same, apart = np.take(table, 0, axis=axis), np.take(table, 1, axis=axis)
            table = np.stack([same, (apart - same / n) / (1.0 - 1.0 / n)], axis=axis)
    return table
