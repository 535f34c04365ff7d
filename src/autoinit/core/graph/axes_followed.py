"""Which axis of the inputs an axis of an output is made of, place by place."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from .cuts import CUTS, cuts_of
from .graph import Node, Shape

Followed = list[int | None] | None
"""For every input the axis (None: it is taken whole); None if the op mixes places along the axis."""


def axes_followed(node: Node, k: int, axis: int) -> Followed:
    """What `axis` of output k is made of."""
    if node.op not in FOLLOWED or node.inputs[0] is None:
        return None
    return FOLLOWED[node.op](node, len(node.outputs[k].shape), axis)


def _first(node: Node, rank: int, axis: int) -> Followed:
    """The first operand has the axis; others are taken whole."""
    return [axis, *[None] * (len(node.inputs) - 1)]


def _broadcast(node: Node, rank: int, axis: int) -> Followed:
    found: list[int | None] = []
    for ref in node.inputs:
        place = -1 if ref is None else axis - (rank - len(ref.shape))
        found.append(None if ref is None or place < 0 or ref.shape[place] == 1 else place)
    return found


def _but_one(node: Node, rank: int, axis: int) -> Followed:
    return [axis] * len(node.inputs) if node.attrs["axis"] != axis else None


def _linear(node: Node, rank: int, axis: int) -> Followed:
    return _first(node, rank, axis) if axis < rank - 1 and len(node.inputs[0].shape) == rank else None  # type: ignore[union-attr]


def _normalize(node: Node, rank: int, axis: int) -> Followed:
    a = node.attrs
    mixed = axis in a["axes"] or axis in a.get("channel_axes", ()) or (a.get("groups") and axis == 1)
    return None if mixed or a.get("use_running") else _first(node, rank, axis)


def _attention(node: Node, rank: int, axis: int) -> Followed:
    plain = axis == rank - 2 and not node.attrs.get("causal") and (len(node.inputs) < 4 or node.inputs[3] is None)
    return _first(node, rank, axis) if plain else None


def _matmul(node: Node, rank: int, axis: int) -> Followed:
    left, right = node.inputs
    if left is None or right is None or len(left.shape) != rank or len(right.shape) != rank:
        return None
    if axis == rank - 2:
        return [axis, None]
    return [None, axis] if axis == rank - 1 and not node.attrs.get("weights") else None


def _reshape(node: Node, rank: int, axis: int) -> Followed:
    """The axis of the same size with as many entries before it."""
    old: Shape = node.inputs[0].shape  # type: ignore[union-attr]
    new = node.outputs[0].shape
    before = prod(new[:axis])
    for k, n in enumerate(old):
        if n == new[axis] and n > 1 and prod(old[:k]) == before:
            return [k]
    return None


def _cut(node: Node, rank: int, axis: int) -> Followed:
    cut = cuts_of(node)[0]
    if cut.goes:
        return [axis + (axis >= cut.axis)]
    return [axis] if cut.axis != axis or cut.step == 1 else None


FOLLOWED: dict[str, Callable[[Node, int, int], Followed]] = {
    "elementwise": _broadcast, "expand": _broadcast, "identity": _first, "dropout": _first, "softmax": _but_one,
    "concat": _but_one, "linear": _linear, "normalize": _normalize, "attention": _attention, "matmul": _matmul,
    "reshape": _reshape, "permute": lambda node, rank, axis: [node.attrs["perm"][axis]], **dict.fromkeys(CUTS, _cut),
}  # fmt: skip
"""By op; functions of a node, the rank of its output and the axis there."""
