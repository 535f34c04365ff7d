"""What ops that only move entries do to a layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from ..cuts import CUTS, cuts_of
from ..graph import Node
from .layout import Fixed, Layout, Parts, Repeat, Run, cut, joined, regrouped, run_of, size_of, still, with_still

Made = list[Layout] | None
"""A layout for every output; None where the result is no view."""


def _reshape(node: Node, x: Layout) -> Made:
    axes = regrouped(x.axes, node.outputs[0].shape)
    return None if axes is None else [x._replace(axes=axes)]


def _copied(node: Node, x: Layout) -> Made:
    """Axes of size m become axes of size n; new ones stand in front."""
    shape = node.outputs[0].shape
    added = len(shape) - len(x.axes)
    old = (1,) * added + x.shape
    if added < 0 or any(m == 0 or n % m for m, n in zip(old, shape, strict=True)):
        return None
    axes = zip(((),) * added + x.axes, old, shape, strict=True)
    return [x._replace(axes=tuple(joined((Repeat(n // m), *parts)) for parts, m, n in axes))]


def part_of(x: Layout, axis: int, start: int, step: int, size: int) -> Layout:
    if (start, step, size) == (0, 1, x.shape[axis]):
        return x
    run = run_of(x.axes[axis], x.fixed)
    parts, ends = cut(run.of, run.start + run.step * start, run.step * step, size)
    return Layout(x.base, (*x.axes[:axis], parts, *x.axes[axis + 1 :]), with_still(run.fixed, ends))


def place_of(x: Layout, axis: int, index: int) -> Layout:
    return Layout(x.base, x.axes[:axis] + x.axes[axis + 1 :], with_still(x.fixed, still(x.axes[axis], index)))


def _cut(node: Node, x: Layout) -> Made:
    made = []
    for axis, start, step, size, goes in cuts_of(node):
        if size < 1 or start < 0 or step < 1:
            return None
        made.append(place_of(x, axis, start) if goes else part_of(x, axis, start, step, size))
    return made


def _shuffle(node: Node, x: Layout) -> Made:
    """Flips and rolls; nobody knows where the entries of others go."""
    for kind, axis, shift in node.attrs.get("moves") or ((None, 0, 0),):
        n = x.shape[axis]
        if kind is None:
            return None
        parts, ends = cut(x.axes[axis], n - 1 if kind == "flip" else -shift, -1 if kind == "flip" else 1, n)
        x = Layout(x.base, (*x.axes[:axis], parts, *x.axes[axis + 1 :]), with_still(x.fixed, ends))
    return [x]


MOVES: dict[str, Callable[[Node, Layout], Made]] = {
    "identity": lambda node, x: [x],
    "reshape": _reshape,
    "permute": lambda node, x: [x._replace(axes=tuple(x.axes[a] for a in node.attrs["perm"]))],
    "expand": _copied,
    "repeat": _copied,
    **dict.fromkeys(CUTS, _cut),
    "shuffle": _shuffle,
}


def glued(pieces: Sequence[Layout], axis: int) -> Layout | None:
    """Pieces along an axis that are neighbours in one tensor, as the part of it that they are.

    What they are parts of is guessed from the first two. A guess is right if cutting it gives the pieces again.
    """
    first = pieces[0]
    before, behind = first.axes[:axis], first.axes[axis + 1 :]
    if any((p.base, p.axes[:axis], p.axes[axis + 1 :]) != (first.base, before, behind) for p in pieces[1:]):
        return None
    copies = [_copies(p.axes[axis]) for p in pieces]
    if len({(p.fixed, parts) for p, (_, parts) in zip(pieces, copies, strict=True)}) == 1:
        made = joined((Repeat(sum(count for count, _ in copies)), *copies[0][1]))
        return first._replace(axes=(*before, made, *behind))
    ends = list(accumulate(size_of(p.axes[axis]) for p in pieces))
    places = list(zip((0, *ends), ends, pieces, strict=False))
    for run in _guesses(pieces, axis):
        if run.step == 0 or ends[-1] > size_of(run.of):
            continue
        parts, standing = cut(run.of, run.start, run.step, ends[-1])
        whole = Layout(first.base, (*before, parts, *behind), with_still(run.fixed, standing))
        if all(part_of(whole, axis, start, 1, end - start) == piece for start, end, piece in places):
            return whole
    return None


def _guesses(pieces: Sequence[Layout], axis: int) -> Iterator[Run]:
    """Where the first piece may begin, in what, and with which step."""
    common = frozenset.intersection(*(p.fixed for p in pieces))
    one, two = ({(run.of, run.fixed): run for run in _ways(p, axis, p.fixed - common)} for p in pieces[:2])
    for key, run in one.items():
        if run.size > 1:
            yield run
        elif key in two:
            gap, n = two[key].start - run.start, size_of(run.of)
            yield run._replace(step=gap if 2 * abs(gap) <= n else gap - n if gap > 0 else gap + n)  # around a circle
    for run in two.values():
        yield run._replace(start=run.start - run.step * size_of(pieces[0].axes[axis]))


def _ways(piece: Layout, axis: int, own: Fixed) -> Iterator[Run]:
    """What the piece may be a part of along the axis. own: what stands still in this piece, but not in all."""
    parts, fixed = piece.axes[axis], piece.fixed
    size = size_of(parts)
    if parts:
        yield run_of(parts, fixed)
    if len(parts) > 1:
        first, low = run_of(parts[:1], fixed), size_of(parts[1:])
        if first.step == 1:
            yield Run(joined((*first.of, *parts[1:])), first.start * low, 1, size, first.fixed)
    for one in own:
        digit, index = one
        yield Run(joined((digit, *parts)), index * size, 1, size, fixed - {one})


def _copies(parts: Parts) -> tuple[int, Parts]:
    """How often an axis runs through the same places, and those."""
    first = parts[0] if parts else None
    return (first.size, parts[1:]) if isinstance(first, Repeat) else (1, parts)
