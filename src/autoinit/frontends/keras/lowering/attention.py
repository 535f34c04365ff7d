"""Scaled dot-product attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Constant, Value
from ....core.signal.masks import DEAD
from .arithmetic import single
from .operands import known_array, reference_of, shape_of
from .table import keras_op

if TYPE_CHECKING:
    from ..call import Call

HEADS_FIRST = (0, 2, 1, 3)


@keras_op("DotProductAttention")
def attention(call: Call) -> None:
    """(batch, tokens, heads, features) in Keras; heads come before tokens in the neutral op."""
    q, k, v = (call.permuted(call[name], HEADS_FIRST) for name in ("query", "key", "value"))
    assert q is not None and k is not None and v is not None
    soft_cap = getattr(call.op, "attn_logits_soft_cap", None)
    mask, bias = call["mask"], call["bias"]
    if soft_cap is not None:
        call.unknown()
        return
    scale = call["scale"]
    scale = None if scale is None else known_array(call, scale)
    made = call.emit(
        "attention", [q, k, v, _mask(call, mask, bias)], [(*q.shape[:-1], v.shape[-1])], causal=bool(call.op.is_causal),
        dropout=0.0, scale=q.shape[-1] ** -0.5 if scale is None else float(scale.reshape(())),
        grouped=k.shape[1] != q.shape[1],
    )[0]  # fmt: skip
    call.emit("permute", [made], perm=HEADS_FIRST)


def _mask(call: Call, mask: Any, bias: Any) -> Any:
    """The mask alone, the bias alone, or the bias with the mask's dead places."""
    if mask is None or bias is None:
        return bias if mask is None else reference_of(call, mask)
    alive, added = known_array(call, mask), known_array(call, bias)
    if alive is not None and added is not None:
        both = np.where(alive.astype(bool), added, DEAD)
        return Constant(tuple(both.shape), lambda: both)
    shape = np.broadcast_shapes(shape_of(mask), shape_of(bias))
    made: Value = call.emit("where", [mask, bias, single(DEAD)], [tuple(shape)])[0]
    return made
