"""How often two views of one tensor meet the same entry.

Along an axis of the base, each view's index is a sum of digits of its own, start + sum_j stride_j digit_j, or it is
averaged over. `chances` gives, for one axis of the base, the chance that both have the same index there, where along
each of their own axes they have the same index or each any one; from that follow the patterns "same or different".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph.canonical.layout import NONE, Axis, Cut, Digit, Layout, run_of, uses
from ..signal import axes as K_axes

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Digits = tuple[tuple[int, int], ...]
"""(stride, size) of digits of an index of the base."""
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
    averaged: Digits = ()
    """What the view does not have."""


def index_of(view: Layout, root: Axis) -> Index:
    """Raises ValueError where the axis was cut in a way that is not followed."""
    found: list[Use] = []
    start, digits = 0, []
    cuts: dict[Cut, int] = {}
    """Cuts of which the view has digits, and how many places these have together."""
    for axis, parts in enumerate(view.axes):
        low = 1
        for part in reversed(parts):
            if isinstance(part, Digit) and isinstance(part.root, Cut) and part.size < part.root.size:
                if uses(part, root):
                    stride = _inside(part.root, root).stride * part.root.step * part.stride
                    found.append(Use(axis, low, part.size, stride))
                    cuts[part.root] = cuts.get(part.root, 1) * part.size
            elif isinstance(part, Digit) and uses(part, root):
                run = run_of((part,), NONE)
                of = run.of[0]
                top = isinstance(of, Digit) and of.root == root and of.stride * of.size == root.size
                if len(run.of) != 1 or not isinstance(of, Digit) or not (top or of == part):
                    raise ValueError("a part of a part")
                found.append(Use(axis, low, part.size, of.stride * run.step))
                digits.append((of.stride, of.size))
                start += of.stride * run.start
            low *= part.size
    for digit, index in view.fixed:
        if digit.root == root:
            digits.append((digit.stride, digit.size))
            start += digit.stride * index
        elif uses(digit, root):
            assert isinstance(digit.root, Cut)
            start += _inside(digit.root, root).stride * digit.root.step * digit.stride * index
            cuts[digit.root] = cuts.get(digit.root, 1) * digit.size
    for cut, places in cuts.items():
        if places != cut.size:
            raise ValueError("an average over a part")
        inner = _inside(cut, root)
        digits.append((inner.stride, inner.size))
        start += inner.stride * cut.start
    return Index(tuple(sorted(found)), start, root.size, _missing(digits, root.size))


def _inside(cut: Cut, root: Axis) -> Digit:
    """What a cut with digits of its own was made of."""
    of = cut.of[0]
    if len(cut.of) != 1 or not isinstance(of, Digit) or of.root != root or of.stride * of.size != root.size:
        raise ValueError("a part of a part")
    return of


def _missing(digits: Iterable[tuple[int, int]], size: int) -> Digits:
    """The digits between those that a view has."""
    found, reached = [], 1
    for stride, n in (*sorted(digits), (size, 1)):
        if stride % reached:
            raise ValueError("digits that overlap")
        if stride > reached:
            found.append((reached, stride // reached))
        reached = stride * n
    return tuple(found)


def _without(index: Index, gone: Digits) -> Index:
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


@lru_cache(maxsize=4096)
def chances(one: Index, two: Index, shape: tuple[int, ...]) -> Array:
    """The chance of the same index, as an array that broadcasts to (2,) * len(shape): along each axis the views have
    the same index (0), or each has any of its own (1)."""
    flat, whole = np.ones((1,) * len(shape)), ((1, one.size),)
    if whole in (one.averaged, two.averaged):
        return flat / one.size
    gone = (*one.averaged, *(d for d in two.averaged if d not in one.averaged))
    if gone:
        if any(a <= b < a * n for a, n in gone for b, m in gone if (a, n) != (b, m)):
            raise ValueError("averages that overlap")
        return np.asarray(chances(_without(one, gone), _without(two, gone), shape) / prod(n for _, n in gone))
    own = [sorted({use.axis for use in index.uses}) for index in (one, two)]
    if one == two:
        for axis in own[0]:
            meet = 1.0 / prod(use.size for use in one.uses if use.axis == axis)
            flat = flat * np.array([1.0, meet]).reshape([2 if a == axis else 1 for a in range(len(shape))])
        return flat
    if not set(own[0]) & set(own[1]):
        return flat * _meet(*(_places(i, axes, shape).reshape(1, -1) for i, axes in zip((one, two), own, strict=True)))
    return _counted(one, two, shape, sorted({*own[0], *own[1]}))


def _meet(a: Places, b: Places) -> float:
    """The mean over rows of the chance that one of the first's row and one of the second's are the same."""
    rows = np.arange(len(a))[:, None] * (1 + max(a.max(), b.max()))
    (one, many), (two, more) = (np.unique(x + rows, return_counts=True) for x in (a, b))
    _, i, j = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    return float(np.dot(many[i], more[j])) / float(a.shape[1] * b.shape[1] * len(a))


def _places(index: Index, axes: Sequence[int], shape: Sequence[int]) -> Places:
    """The index of the base for all indices of some axes."""
    grid = [shape[a] for a in axes]
    made = np.full(grid, index.start)
    for use in index.uses:
        at = axes.index(use.axis)
        steps = use.stride * ((np.arange(grid[at]) // use.low) % use.size)
        made = made + steps.reshape([-1 if k == at else 1 for k in range(len(grid))])
    return made % index.size


def _counted(one: Index, two: Index, shape: Sequence[int], axes: Sequence[int]) -> Array:
    """Count over the grid of all axes involved."""
    grid = [shape[a] for a in axes]
    if len(grid) > 1 and prod(grid) > LARGEST:
        raise ValueError("too many indices to count")
    made = [_places(index, axes, shape) for index in (one, two)]
    table = np.empty((2,) * len(axes))
    for free in np.ndindex(*table.shape):  # 1: the indices along this axis are drawn apart
        kept = [k for k, apart in enumerate(free) if not apart]
        rows = prod(grid[k] for k in kept)
        table[free] = _meet(*(np.moveaxis(m, kept, range(len(kept))).reshape(rows, -1) for m in made))
    return table.reshape([2 if a in axes else 1 for a in range(len(shape))])


def pushed(table: Array, base: int, sizes: Sequence[int], one: Layout, two: Layout, shape: Sequence[int]) -> Array:
    """A table over the patterns of the base's axes as one over those of two views of it."""
    table = table.reshape(table.shape + (1,) * len(shape))
    for number, n in enumerate(sizes):
        if n == 1:
            table = table[0]
            continue
        root = Axis(base, number, n)
        g = chances(index_of(one, root), index_of(two, root), tuple(shape))
        table = g * table[0] + (1.0 - g) * table[1]
    return different(table, shape)


def different(table: Array, shape: Sequence[int]) -> Array:
    """Tables of "the same or any other" index as those of "the same or a different one"."""
    table = np.array(np.broadcast_to(table, (2,) * len(shape)))
    for axis, n in enumerate(shape):  # apart = same / n + (1 - 1/n) different
        if n > 1:
            same, apart = K_axes.same(table, axis), K_axes.different(table, axis)
            table = K_axes.of_both(same, (apart - same / n) / (1.0 - 1.0 / n), axis)
    return table
