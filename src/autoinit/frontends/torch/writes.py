"""Views and writes: a tensor that is written to changes its base, and the base its other views."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch

from ...core.graph.graph import Node, Reference, Value
from .known import held_by

if TYPE_CHECKING:
    from .call import Call
    from .tracer import Tracer

Piece = tuple[int, int, Reference]


class Record:
    """What is known of one fake tensor: its reference, and the tensor it is a view of."""

    __slots__ = ("base", "call", "pieces", "reference", "seen", "tensor", "version")

    def __init__(self, tensor: torch.Tensor, reference: Reference) -> None:
        self.tensor, self.reference = tensor, reference
        self.base: Record | None = None
        self.call: Call | None = None
        """That made a view, which is derived anew when its base was written to."""
        self.version = self.seen = 0
        self.pieces: tuple[int, int, list[Piece]] | None = None
        """(version, axis, pieces) if the tensor was put together by writes to slices along one axis."""


def written(tracer: Tracer, target: torch.Tensor, reference: Reference) -> None:
    """`target` now holds `reference`: so does the part of its base that it shows."""
    tracer.set(target, reference)
    record = tracer.record_of(target)
    while record.base is not None:
        base = record.base
        before = base.version
        made: Reference = held_by(tracer, base.tensor) or _written_slice(tracer, base, record)
        pieces = base.pieces
        if made is None:
            made = _written_share(tracer, base, record)
        base.reference = made
        base.version += 1
        if pieces is not None and pieces[0] == before:
            base.pieces = (base.version, *pieces[1:])
        record.seen = base.version
        record = base


def _written_share(tracer: Tracer, base: Record, part: Record) -> Value:
    """A part somewhere in the base: the whole of it in another shape, or a share of a mixture."""
    share = prod(part.tensor.shape) / max(prod(base.tensor.shape), 1)
    base.pieces = None
    inputs: tuple[Reference, ...] = (part.reference,)
    op = "reshape"
    attrs: dict[str, Any] = {}
    if share < 1.0:
        op, inputs, attrs = "write", (base.reference, part.reference), {"fraction": share}
    elif base.tensor.shape != part.tensor.shape:
        perm = _permutation(base.tensor, part.tensor)
        if perm is not None:
            op, attrs = "permute", {"perm": perm}
    return _node(tracer, op, inputs, tuple(base.tensor.shape), **attrs)


def _written_slice(tracer: Tracer, base: Record, part: Record) -> Value | None:
    """A slice along one axis: the base is what was there before, between, and after, put together again."""
    found = _slice_of(base.tensor, part.tensor)
    if found is None:
        return None
    axis, start, stop = found
    size = base.tensor.shape[axis]
    known: list[Piece] = [(0, size, base.reference)]
    if base.pieces is not None and base.pieces[:2] == (base.version, axis):
        known = base.pieces[2]
    pieces: list[Piece] = []
    for low, high, ref in known:
        if low < start:
            pieces.append((low, min(high, start), _cut(tracer, base, axis, ref, low, high, low, min(high, start))))
        if high > stop:
            pieces.append((max(low, stop), high, _cut(tracer, base, axis, ref, low, high, max(low, stop), high)))
    pieces.append((start, stop, _as_slice(tracer, base, axis, part, stop - start)))
    pieces.sort(key=lambda piece: piece[0])
    base.pieces = (base.version, axis, pieces)
    return _node(tracer, "concat", tuple(ref for _, _, ref in pieces), tuple(base.tensor.shape), axis=axis)


def _cut(
    tracer: Tracer, base: Record, axis: int, ref: Reference, low: int, high: int, start: int, stop: int
) -> Reference:
    """start:stop of the piece low:high."""
    if (low, high) == (start, stop):
        return ref
    shape = tuple(stop - start if a == axis else n for a, n in enumerate(base.tensor.shape))
    return _node(tracer, "slice", (ref,), shape, axis=axis, start=start - low, stop=stop - low, step=1)


def _as_slice(tracer: Tracer, base: Record, axis: int, part: Record, width: int) -> Reference:
    """What was written to one place of an axis, with that axis."""
    shape = tuple(width if a == axis else n for a, n in enumerate(base.tensor.shape))
    if part.reference is None or tuple(part.reference.shape) == shape:
        return part.reference
    return _node(tracer, "reshape", (part.reference,), shape)


def _slice_of(base: torch.Tensor, part: torch.Tensor) -> tuple[int, int, int] | None:
    """(axis, start, stop) if `part` is a slice of step 1 of `base` along one axis, or one place of it."""
    if base.dim() == part.dim() + 1:
        return _place_of(base, part)
    if base.dim() != part.dim() or base.stride() != part.stride():
        return None
    axes = [a for a in range(base.dim()) if base.shape[a] != part.shape[a]]
    offset = part.storage_offset() - base.storage_offset()
    if len(axes) != 1 or base.stride(axes[0]) == 0 or offset % base.stride(axes[0]):
        return None
    start = offset // base.stride(axes[0])
    stop = start + part.shape[axes[0]]
    return (axes[0], start, stop) if start >= 0 and stop <= base.shape[axes[0]] else None


def _place_of(base: torch.Tensor, part: torch.Tensor) -> tuple[int, int, int] | None:
    """(axis, k, k + 1) if `part` is ``base.select(axis, k)``."""
    offset = part.storage_offset() - base.storage_offset()
    for axis in range(base.dim()):
        rest = [a for a in range(base.dim()) if a != axis]
        alike = all(
            base.shape[a] == n and (n == 1 or base.stride(a) == s)
            for a, n, s in zip(rest, part.shape, part.stride(), strict=True)
        )
        step = base.stride(axis)
        if alike and step and offset >= 0 and offset % step == 0 and offset // step < base.shape[axis]:
            return axis, offset // step, offset // step + 1
    return None


def _node(tracer: Tracer, op: str, inputs: tuple[Reference, ...], shape: tuple[int, ...], **attrs: Any) -> Value:
    made = tracer.value(shape)
    tracer.add(Node(op, inputs, (made,), attrs, tracer.module, "write"))
    return made


def _permutation(base: torch.Tensor, view: torch.Tensor) -> tuple[int, ...] | None:
    """perm with base = view.permute(perm), if the view is a permutation of the base."""
    if base.dim() != view.dim():
        return None
    perm, used = [], set()
    for n, s in zip(base.shape, base.stride(), strict=True):
        for k, (m, t) in enumerate(zip(view.shape, view.stride(), strict=True)):
            if k not in used and n == m and s == t:
                perm.append(k)
                used.add(k)
                break
        else:
            return None
    return tuple(perm)
