"""A part of a tensor that was put together, as a part of one of its pieces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .layout import Axis, Cut, Digit, Layout, Part, Parts, Repeat, cut, joined, still, taken, with_still


class Pieces(NamedTuple):
    """What a tensor is put together of along an axis; None for a piece that is no value."""

    axis: int
    sizes: tuple[int, ...]
    layouts: tuple[Layout | None, ...]


def resolved(x: Layout, known: Mapping[int, Pieces]) -> Layout:
    """Follow a view into the piece that all of it lies in, as often as that is so."""
    while x.base in known:
        inner = _inside(x, known[x.base])
        if inner is None:
            return x
        x = inner
    return x


def _inside(x: Layout, pieces: Pieces) -> Layout | None:
    found = _range(x, pieces)
    if found is None:
        return None
    low, high = found
    begin = 0
    for size, piece in zip(pieces.sizes, pieces.layouts, strict=True):
        if begin <= low and high <= begin + size:
            return None if piece is None else _substituted(x, pieces, begin, piece)
        begin += size
    return None


def _range(x: Layout, pieces: Pieces) -> tuple[int, int] | None:
    """The places along the axis of the pieces that the view has."""
    root = Axis(x.base, pieces.axis, sum(pieces.sizes))
    low, spread, found = 0, 0, False
    for digit, index in x.fixed:
        if digit.root == root:
            low, found = low + digit.stride * index, True
    for part in (part for parts in x.axes for part in parts if isinstance(part, Digit)):
        inside = _cut_of(part, root)
        if part.root == root:
            spread, found = spread + part.stride * (part.size - 1), True
        elif inside is not None:
            low, spread, found = low + inside.start, spread + inside.step * (inside.size - 1), True
        elif _uses(part, root):
            return None
    return (low, low + spread + 1) if found else None


def _cut_of(part: Digit, root: Axis) -> Cut | None:
    """The cut of the whole axis that a part is, if it is one."""
    own = part.root
    if not isinstance(own, Cut) or own.wraps or own.step < 0 or (part.stride, part.size) != (1, own.size):
        return None
    return own if own.of == (Digit(root, 1, root.size),) else None


class _Failed(Exception):
    pass


def _substituted(x: Layout, pieces: Pieces, begin: int, piece: Layout) -> Layout | None:
    """The view with the piece, which lies from `begin` on, in the place of the whole."""
    root = Axis(x.base, pieces.axis, sum(pieces.sizes))
    where = {
        Axis(x.base, k, n): parts
        for k, (parts, n) in enumerate(zip(piece.axes, piece.shape, strict=True))
        if k != pieces.axis
    }
    along = piece.axes[pieces.axis]
    first = sum(digit.stride * index for digit, index in x.fixed if digit.root == root)
    fixed = piece.fixed

    def cut_along(start: int, step: int, size: int) -> Parts:
        nonlocal fixed
        made, still_ones = cut(along, start - begin, step, size)
        fixed = with_still(fixed, still_ones)
        return made

    def of(part: Part) -> Parts:
        if isinstance(part, Repeat):
            return (part,)
        whole_cut = _cut_of(part, root)
        if whole_cut is not None:
            return cut_along(whole_cut.start, whole_cut.step, whole_cut.size)
        if part.root == root:
            return cut_along(first, part.stride, part.size)
        if isinstance(part.root, Cut):
            inner, ends = cut(joined(p for one in part.root.of for p in of(one)), *part.root[1:])
            if ends:
                raise _Failed
        elif part.root in where:
            inner = where[part.root]
        else:
            raise _Failed
        made = taken(inner, part.stride, part.size)
        if made is None:
            raise _Failed
        return made

    free = [part for parts in x.axes for part in parts if _uses(part, root)]
    if len(free) > 1:
        return None
    try:
        axes = tuple(joined(p for part in parts for p in of(part)) for parts in x.axes)
        for digit, index in x.fixed:
            if digit.root != root:
                fixed = with_still(fixed, still(of(digit), index))
    except _Failed:
        return None
    if not free:
        fixed = with_still(fixed, still(along, first - begin))
    return Layout(piece.base, axes, fixed)


def _uses(part: Part, root: Axis) -> bool:
    if isinstance(part, Repeat):
        return False
    return part.root == root or (isinstance(part.root, Cut) and any(_uses(one, root) for one in part.root.of))
