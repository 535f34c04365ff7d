"""A part of a tensor that was put together, as a part of one of its pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from typing import NamedTuple

from ..graph import Node
from .layout import Axis, Digit, Layout, Run, cut, run_of, uses, with_still
from .substitution import Lost, through


class Pieces(NamedTuple):
    """What a tensor is put together of along an axis; None for a piece that is no value."""

    axis: int
    sizes: tuple[int, ...]
    layouts: tuple[Layout | None, ...]


def pieces_of(node: Node, layout: Callable[[int], Layout | None]) -> Pieces:
    """layout: of an operand, by its slot."""
    axis, sizes, layouts = node.attrs["axis"], [], []
    for slot, ref in enumerate(node.inputs):
        new = ref is not None and len(ref.shape) < len(node.outputs[0].shape)  # they lie along an axis of their own
        if ref is not None and (new or ref.shape[axis]):
            found = layout(slot)
            sizes.append(1 if new else ref.shape[axis])
            layouts.append(found.with_axis(axis) if new and found is not None else found)
    return Pieces(axis, tuple(sizes), tuple(layouts))


def resolved(x: Layout, known: Mapping[int, Pieces]) -> Layout:
    """Follow a view into the piece that all of it lies in, as often as that is so."""
    while x.base in known:
        inner = _inside(x, known[x.base])
        if inner is None:
            return x
        x = inner
    return x


def _inside(x: Layout, pieces: Pieces) -> Layout | None:
    axis, whole = pieces.axis, sum(pieces.sizes)
    root = Axis(x.base, axis, whole)
    run = _run_along(x, root)
    if run is None or run.of != (Digit(root, 1, whole),):
        return None
    ends = run.start, run.start + run.step * (run.size - 1)
    for size, behind, piece in zip(pieces.sizes, accumulate(pieces.sizes), pieces.layouts, strict=True):
        begin = behind - size
        if begin <= min(ends) and max(ends) < behind:
            return None if piece is None else _substituted(x, root, run, begin, piece)
    return None


def _run_along(x: Layout, root: Axis) -> Run | None:
    """The places of an axis of its base that a view has, if they are one part of it."""
    free = [part for parts in x.axes for part in parts if uses(part, root)]
    if free:
        return run_of((free[0],), x.fixed) if len(free) == 1 else None
    own = frozenset(one for one in x.fixed if one[0].root == root)
    index = sum(digit.stride * index for digit, index in own)
    return Run((Digit(root, 1, root.size),), index, 1, 1, x.fixed - own) if own else None


def _substituted(x: Layout, root: Axis, run: Run, begin: int, piece: Layout) -> Layout | None:
    """The view with the piece, which lies from `begin` on, in the place of the whole."""
    part = root._replace(size=run.size)
    shown = Digit(part, 1, run.size)
    view = Layout(x.base, tuple(tuple(shown if uses(p, root) else p for p in parts) for parts in x.axes), run.fixed)
    axes = {Axis(x.base, k, n): piece.axes[k] for k, n in enumerate(piece.shape)}
    made, ends = cut(piece.axes[root.number], run.start - begin, run.step, run.size)
    try:
        return through(view, piece.base, {**axes, part: made}, with_still(piece.fixed, ends))
    except Lost:
        return None

