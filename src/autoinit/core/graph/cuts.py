"""Ops that cut an axis, and where."""

from __future__ import annotations

from .graph import Node, Value


def wanted_cuts(node: Node) -> list[tuple[int, int, int]] | None:
    """(axis, start, stop) of every output of an op that cuts an axis; None for any other op."""
    a, x = node.attrs, node.inputs[0] if node.inputs else None
    if not isinstance(x, Value) or not x.shape:
        return None
    if node.op == "slice" and a["step"] == 1:
        return [(a["axis"], a["start"], min(a["stop"], x.shape[a["axis"]]))]
    if node.op == "select":
        return [(a["axis"], a["index"], a["index"] + 1)]
    if node.op == "split":
        ends = [sum(a["sizes"][: k + 1]) for k in range(len(a["sizes"]))]
        return [(a["axis"], end - size, end) for end, size in zip(ends, a["sizes"], strict=True)]
    if node.op == "unbind":
        return [(a["axis"], k, k + 1) for k in range(x.shape[a["axis"]])]
    return None
