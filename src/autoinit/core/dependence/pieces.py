"""Values that were put together from pieces, with others: piece by piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph.canonical.layout import Layout, of_base
from ..graph.canonical.moves import part_of
from ..graph.graph import Node
from ..graph.specs import spec_of
from ..signal import axes as K_axes
from .asking import Asking
from .substitution import Unknown

Array = NDArray[np.float64]
MOST_PIECES = 16


def by_pieces(joint: Asking, node: Node, whole: Layout, other: Layout, shape: tuple[int, ...]) -> Array:
    """cov([a, b, ...], v) is cov(a, its part of v), cov(b, ...): of a size s of n as much as s/n tells, and of two
    different places s (s - 1) / (n (n - 1)) within a piece."""
    out, axis = node.outputs[0], node.attrs["axis"]
    if whole != of_base(out.id, out.shape) or shape != out.shape or len(node.inputs) > MOST_PIECES:
        raise Unknown
    n = shape[axis]
    same: Array = np.zeros((2,) * (len(shape) - 1))
    different: Array = np.zeros((2,) * (len(shape) - 1))
    at = 0
    for slot in range(len(node.inputs)):
        piece = joint.operand(node, slot)
        if piece is None:
            raise Unknown
        view, stacked = joint.view(piece, len(piece.shape)), len(piece.shape) < len(shape)
        if stacked:
            view = view._replace(axes=(*view.axes[:axis], (), *view.axes[axis:]))
        size = 1 if stacked else piece.shape[axis]
        if size == 0:
            continue
        inner = (*shape[:axis], size, *shape[axis + 1 :])
        C = joint.between(view, _part(joint, other, axis, at, size), inner)
        same = same + size / n * K_axes.same(C, axis)
        different = different + size * (size - 1) / max(n * (n - 1), 1) * K_axes.different(C, axis)
        at += size
    return np.stack([same, different], axis=axis)


def _part(joint: Asking, view: Layout, axis: int, start: int, size: int) -> Layout:
    """A part of a view, as a piece of what it was put together from where it is one."""
    node = joint.producer(view.base)
    if node is None or not spec_of(node.op).joins or node.attrs["axis"] != axis:
        return part_of(view, axis, start, 1, size)
    if view != of_base(view.base, view.shape) or len(node.inputs[0].shape) < len(view.shape):  # type: ignore[union-attr]
        return part_of(view, axis, start, 1, size)
    at = 0
    for slot in range(len(node.inputs)):
        piece = joint.operand(node, slot)
        n = 0 if piece is None else piece.shape[axis]
        if piece is not None and at <= start and start + size <= at + n:
            return part_of(joint.view(piece, len(piece.shape)), axis, start - at, 1, size)
        at += n
    return part_of(view, axis, start, 1, size)
