"""A view of what an op gives, as a view of what it is given."""

from __future__ import annotations

from collections.abc import Mapping

from ..graph.canonical.layout import (
    Axis,
    Cut,
    Digit,
    Fixed,
    Layout,
    Part,
    Parts,
    Repeat,
    cut,
    joined,
    still,
    taken,
    with_still,
)


class Lost(Exception):
    """The view cannot be told in terms of the operand."""


class Unknown(Exception):
    """Nobody can say how two values vary together."""


def through(view: Layout, base: int, axes: Mapping[Axis, Parts | None], fixed: Fixed = frozenset()) -> Layout:
    """axes: for every axis of what is viewed the parts of the operand along it; None: the operand does not have it."""

    def of(part: Part) -> Parts:
        if isinstance(part, Repeat):
            return (part,)
        root = part.root
        if isinstance(root, Cut):
            inside: list[Part] = [p for one in root.of for p in of(one)]
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

    made = tuple(
        () if not parts else of(parts[0]) if len(parts) == 1 else joined(p for part in parts for p in of(part))
        for parts in view.axes
    )
    for digit, index in view.fixed:
        parts = of(digit)
        if not all(isinstance(p, Repeat) for p in parts):
            fixed = with_still(fixed, still(parts, index))
    return Layout(base, made, fixed)


def digit(base: int, number: int, n: int) -> Parts:
    return () if n == 1 else (Digit(Axis(base, number, n), 1, n),)


def renamed(view: Layout, base: int) -> Layout:
    """The same view of another value of the same shape."""

    def of(part: Part) -> Part:
        if isinstance(part, Repeat):
            return part
        root = part.root
        if isinstance(root, Cut):
            return part._replace(root=root._replace(of=tuple(map(of, root.of))))
        assert isinstance(root, Axis)
        return part._replace(root=root._replace(base=base))

    fixed: set[tuple[Digit, int]] = set()
    for one, index in view.fixed:
        made = of(one)
        assert isinstance(made, Digit)
        fixed.add((made, index))
    return Layout(base, tuple(tuple(map(of, parts)) for parts in view.axes), frozenset(fixed))
