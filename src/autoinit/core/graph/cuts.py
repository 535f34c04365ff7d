"""Ops that cut an axis, and where."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from .graph import Node, Shape, Value

Cuts = list[tuple[int, int, int]]
"""(axis, start, stop) of every output."""


def wanted_cuts(node: Node) -> Cuts | None:
    """Where an op cuts an axis; None for any other op."""
    x = node.inputs[0] if node.op in CUTS else None
    return CUTS[node.op](node, x.shape) if isinstance(x, Value) and x.shape else None


def _slice(node: Node, shape: Shape) -> Cuts | None:
    a = node.attrs
    return [(a["axis"], a["start"], min(a["stop"], shape[a["axis"]]))] if a["step"] == 1 else None


def _select(node: Node, shape: Shape) -> Cuts:
    return [(node.attrs["axis"], node.attrs["index"], node.attrs["index"] + 1)]


def _split(node: Node, shape: Shape) -> Cuts:
    axis, sizes = node.attrs["axis"], node.attrs["sizes"]
    return [(axis, end - size, end) for end, size in zip(accumulate(sizes), sizes, strict=True)]


def _unbind(node: Node, shape: Shape) -> Cuts:
    return [(node.attrs["axis"], k, k + 1) for k in range(shape[node.attrs["axis"]])]


CUTS: dict[str, Callable[[Node, Shape], Cuts | None]] = {
    "slice": _slice, "select": _select, "split": _split, "unbind": _unbind,
}  # fmt: skip
