"""Rows that are added up at indexed places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...axes import axis_of
from ..known import sample_of
from .shape import write
from .table import aten

if TYPE_CHECKING:
    from ..call import Call


KINDS = {
    "sum": "sum", "add": "sum", "mean": "mean", "amax": "max", "max": "max", "amin": "min", "min": "min",
    "prod": "prod", "multiply": "prod",
}  # fmt: skip
COMBINED = {"max": "maximum", "min": "minimum", "prod": "mul"}
"""How a base that counts too meets what was reduced."""


@aten("index_add", "scatter_add")
def accumulate(call: Call) -> None:
    base, index = call.args[0], call["index"]
    axis = axis_of(call["dim"], base.dim())
    update = call.values.get("source", call.values.get("src"))
    if not _fits(base, update, axis):
        write(call)
        return
    known, alpha = sample_of(call.tracer, index), float(call.get("alpha", 1))
    if alpha != 1.0:
        (update,) = call.emit("elementwise", [update, alpha], [tuple(update.shape)], fn="mul")  # type: ignore[union-attr]
    call.emit("scatter", [base, update], [call.outputs[0]], axis=axis, kind="sum", include_self=True,
              **_rows(known, base.shape[axis], axis))  # fmt: skip


@aten("scatter_reduce", "index_reduce", "scatter")
def reduce(call: Call) -> None:
    """Rows reduced at the places that an index names; a plain scatter overwrites."""
    base, kind = call.args[0], KINDS.get(str(call.get("reduce", "")))
    update = call.values.get("source", call.values.get("src"))
    axis = axis_of(call["dim"], max(base.dim(), 1))
    if kind is None or base.dim() == 0 or not _fits(base, update, axis):
        write(call)
        return
    index = sample_of(call.tracer, call["index"])
    own = bool(call.get("include_self", True))
    rows = _rows(index, base.shape[axis], axis)
    if not own or kind in ("sum", "mean"):
        call.emit("scatter", [base, update], axis=axis, kind=kind, include_self=own, **rows)
        return
    empty: Any = torch.ones(base.shape) if kind == "prod" else base
    (made,) = call.emit("scatter", [empty, update], [tuple(base.shape)], axis=axis, kind=kind, **rows)
    call.emit("elementwise", [base, made], fn=COMBINED[kind])


@aten("segment_reduce")
def segments(call: Call) -> None:
    """Consecutive rows, reduced."""
    data, out = call["data"], call.outputs[0]
    axis = axis_of(call.get("axis", 0), data.dim())
    lengths, offsets = (sample_of(call.tracer, call.get(name)) for name in ("lengths", "offsets"))
    counts = lengths if lengths is not None else None if offsets is None else offsets.diff(dim=-1)
    if counts is not None and counts.dim() > 1:
        counts = counts.reshape(-1, counts.shape[-1])[0]
    initial = float(call.get("initial", 0.0))
    known = None if counts is None else counts.numpy().astype(float)
    call.emit("scatter", [torch.full(out.shape, initial), data], axis=axis, kind=KINDS[str(call["reduce"])],
              counts=known)  # fmt: skip


@aten("index_put", "_index_put_impl")
def index_put(call: Call) -> None:
    base, indices, update = call.args[0], list(call["indices"]), call["values"]
    used = [k for k, i in enumerate(indices) if i is not None]
    one = len(used) == 1 and indices[used[0]].dtype is not torch.bool and indices[used[0]].dim() == 1
    if call.get("accumulate", False) and one and _fits(base, update, used[0]):
        rows = _rows(sample_of(call.tracer, indices[used[0]]), base.shape[used[0]], used[0])
        call.emit("scatter", [base, update], [call.outputs[0]], axis=used[0], kind="sum", include_self=True, **rows)
    elif call.get("accumulate", False) or len(used) != 1 or not _put_between(call, used[0]):
        write(call)


def _put_between(call: Call, axis: int) -> bool:
    """Rows that are written to known places in a row: the base is what was before, the rows, and what comes after."""
    base, index, update = call.args[0], sample_of(call.tracer, call["indices"][axis]), call["values"]
    if index is None or index.dtype is torch.bool or index.dim() > 1 or index.numel() == 0:
        return False
    places, n = index.reshape(-1) % base.shape[axis], base.shape[axis]
    start, width = int(places[0]), places.numel()
    if not torch.equal(places, torch.arange(start, start + width)):
        return False
    shape = (*base.shape[:axis], width, *base.shape[axis + 1 :])
    (rows,) = call.emit("expand", [update], [tuple(s for a, s in enumerate(shape) if a != axis or index.dim())])
    pieces: list[Any] = []
    for low, high in ((0, start), (start, start + width), (start + width, n)):
        size = (*base.shape[:axis], high - low, *base.shape[axis + 1 :])
        if low == start and high > low:
            pieces += call.emit("reshape", [rows], [shape]) if rows.shape != shape else [rows]
        elif high > low:
            pieces += call.emit("slice", [base], [size], axis=axis, start=low, stop=high, step=1)
    call.emit("concat", pieces, [call.outputs[0]], axis=axis)
    return True


def _fits(base: torch.Tensor, update: Any, axis: int) -> bool:
    """Whether base and update differ along the axis of the indices only."""
    if not isinstance(update, torch.Tensor) or update.dim() != base.dim():
        return False
    return all(m == n for a, (m, n) in enumerate(zip(base.shape, update.shape, strict=True)) if a != axis)


def _rows(index: Any, places: int, axis: int) -> dict[str, Any]:
    """Where rows go, by the first column of the indices, and how many to each place; None if that is not known."""
    if index is None or index.numel() == 0:
        return {"counts": None}
    rows = index.movedim(axis, 0).reshape(index.shape[axis], -1)[:, 0] if index.dim() > 1 else index
    known = rows.numpy() % places
    return {"counts": np.bincount(known, minlength=places).astype(float), "places": known}
