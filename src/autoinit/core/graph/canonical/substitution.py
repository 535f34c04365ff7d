"""A view of what an op gives, as a view of what it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph import Value
from .layout import NONE, Axis, Cut, Digit, Fixed, Layout, Part, Parts, Repeat, cut, joined, still, taken, with_still

Axes = Mapping[Axis, Parts | None]
"""For every axis of what is viewed the parts of the operand along it; None: the operand does not have it."""


class Lost(ValueError):
    """Nobody can say where entries come from, or how two values vary together."""


class Unfollowed(Lost):
    """An op is on the way of which nobody knows how much its output has in common with what goes in."""


def through(view: Layout, base: int, axes: Axes, fixed: Fixed = NONE) -> Layout:
    """The view as one of the operand `base`, of which the digits `fixed` stand still."""
    made = tuple(
        () if not parts
        else _of(parts[0], axes) if len(parts) == 1
        else joined(p for part in parts for p in _of(part, axes))
        for parts in view.axes
    )  # fmt: skip
    for digit, index in view.fixed:
        fixed = with_still(fixed, still(_of(digit, axes), index))
    return Layout(base, made, fixed)


def _of(part: Part, axes: Axes) -> Parts:
    """A part of a view as parts of the operand."""
    if isinstance(part, Repeat):
        return (part,)
    root = part.root
    if isinstance(root, Cut):
        inside: list[Part] = [p for one in root.of for p in _of(one, axes)]
        if all(isinstance(p, Repeat) for p in inside):
            return (Repeat(part.size),)
        inner, ends = cut(joined(inside), root.start, root.step, root.size)
        if ends:
            raise Lost
    else:
        assert isinstance(root, Axis)
        if root not in axes:
            raise Lost
        found = axes[root]
        if found is None:
            return (Repeat(part.size),)
        if part.size == root.size:
            return found
        inner = found
    made = taken(inner, part.stride, part.size)
    if made is None:
        raise Lost
    return made


def along(view: Layout, out: Value, x: Value, places: Sequence[int | None] | None = None) -> Layout:
    """The view of `out` as one of x; `places`: the axes of x along those of `out` (not given: x is broadcast)."""
    if places is None:
        missing = len(out.shape) - len(x.shape)
        places = [k - missing if k >= missing else None for k in range(len(out.shape))]
    axes: dict[Axis, Parts | None] = {}
    for k, (n, place) in enumerate(zip(out.shape, places, strict=True)):
        if n > 1:
            has_it = place is not None and x.shape[place] > 1
            axes[Axis(out.id, k, n)] = (Digit(Axis(x.id, place, n), 1, n),) if has_it else None  # type: ignore[arg-type]
    return through(view, x.id, axes)
