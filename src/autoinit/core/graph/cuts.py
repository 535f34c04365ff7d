"""Ops that cut an axis, and where."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

from .graph import Node, Shape


class Cut(NamedTuple):
    """Places start, start + step, ... of an axis; of one place the axis may go."""

    axis: int
    start: int
    step: int = 1
    size: int = 1
    goes: bool = False


def cuts_of(node: Node) -> list[Cut]:
    """What every output of an op that cuts is; nothing for any other op."""
    x = node.inputs[0] if node.op in CUTS else None
    return CUTS[node.op](node, x.shape) if x is not None else []


def _slice(node: Node, shape: Shape) -> list[Cut]:
    axis, start, stop, step = (node.attrs[name] for name in ("axis", "start", "stop", "step"))
    return [Cut(axis, start, step, len(range(start, min(stop, shape[axis]), step)))]


def _select(node: Node, shape: Shape) -> list[Cut]:
    axis, index = node.attrs["axis"], node.attrs["index"]
    return [Cut(axis, index % shape[axis], goes=True)]


def _split(node: Node, shape: Shape) -> list[Cut]:
    axis, sizes = node.attrs["axis"], node.attrs["sizes"]
    return [Cut(axis, end - size, 1, size) for end, size in zip(accumulate(sizes), sizes, strict=True)]


CUTS: dict[str, Callable[[Node, Shape], list[Cut]]] = {
    "slice": _slice,
    "select": _select,
    "split": _split,
    "unbind": lambda node, shape: [Cut(node.attrs["axis"], k, goes=True) for k in range(shape[node.attrs["axis"]])],
}
