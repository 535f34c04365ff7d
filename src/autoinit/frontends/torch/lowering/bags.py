"""Bags of embeddings, and unpooling: a few entries gathered, or spread out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..known import sample_of
from .chance import equal_chance
from .table import aten

if TYPE_CHECKING:
    from ..call import Call

MODES = ("sum", "mean", "max")


@aten("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(call: Call) -> None:
    """Rows of a table, summed or averaged over bags. Bags of unequal size count with their mean size."""
    table, indices = call["weight"], sample_of(call.tracer, call["indices"])
    out = call.outputs[0]
    bags, features = out.shape
    size = max(call["indices"].numel() // max(bags, 1), 1)
    known = None
    if indices is not None and bags * size <= indices.numel():
        known = indices.reshape(-1)[: bags * size].reshape(bags, size)
    chance = None if known is None else equal_chance(known)
    mode = MODES[int(call.get("mode", 0))]
    if mode == "max":
        (rows,) = call.emit(
            "embedding", [table, None], [(bags, size, features)], vocabulary=table.shape[0], chance=chance
        )
        call.emit("reduce", [rows], [out], kind="max", axes=(1,), keepdim=False)
    else:
        call.emit("embedding", [table, None], [out], vocabulary=table.shape[0], chance=chance, bag=mode, bag_size=size)
    call.companions()


@aten("max_unpool2d", "max_unpool3d")
def max_unpool(call: Call) -> None:
    """Every entry goes to one place of its window, the others are zero."""
    x, out = call.args[0], call.outputs[0]
    axes = tuple(a for a in range(x.dim()) if x.shape[a] != out.shape[a])
    (spread,) = call.emit("interpolate", [x], [tuple(out.shape)], axes=axes, mode="nearest", align_corners=False)
    call.emit("dropout", [spread], rate=1.0 - x.numel() / out.numel(), shared=(), kind="raw")
