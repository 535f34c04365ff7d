"""Dense, matmul, einsum, convolutions, embeddings, attention."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from ....core.graph.graph import ParameterView
from ...axes import per_axis
from ...einsum import explicit
from ..known import sample_of
from .chance import equal_chance
from .table import aten

if TYPE_CHECKING:
    from ..call import Call


@aten("linear")
def linear(call: Call) -> None:
    call.emit("linear", [call["input"], call["weight"], call["bias"]])


@aten("matmul", "mm", "bmm", "mv", "dot", "vdot", "inner_product")
def matmul(call: Call) -> None:
    a, b = call.args[0], call.args[1]
    call.emit("matmul", [a, b])


@aten("addmm", "addmv", "baddbmm", "addbmm", "_sparse_addmm")
def addmm(call: Call) -> None:
    added, a, b = call.args[:3]
    alpha, beta = call.get("alpha", 1), call.get("beta", 1)
    weight = call.tracer.reference(b)
    if alpha == beta == 1 and added.dim() == 1 and b.dim() == 2 and isinstance(weight, ParameterView):
        turned = replace(weight, shape=weight.shape[::-1], stride=weight.stride[::-1])
        call.emit("linear", [a, turned, added])
        return
    (product,) = call.emit("matmul", [a, b], [call.outputs[0].shape])
    if alpha != 1:
        (product,) = call.emit("elementwise", [product, alpha], [product.shape], fn="mul")
    if beta == 0:
        call.alias(product)
        return
    extra: Any = added
    if beta != 1:
        (extra,) = call.emit("elementwise", [added, beta], [added.shape], fn="mul")
    call.emit("elementwise", [product, extra], fn="add")


@aten("bilinear")
def bilinear(call: Call) -> None:
    call.emit("bilinear", [call["input1"], call["input2"], call["weight"], call["bias"]])


@aten("outer", "ger")
def outer(call: Call) -> None:
    call.emit("einsum", [call.args[0], call.args[1]], equation="a,b->ab")


@aten("einsum")
def einsum(call: Call) -> None:
    operands = call["tensors"]
    call.emit("einsum", list(operands), equation=explicit(call["equation"], [t.dim() for t in operands]))


def _conv(call: Call, x: torch.Tensor, w: torch.Tensor, bias: Any, stride: Any, padding: Any, dilation: Any,
          groups: int, transposed: bool) -> None:  # fmt: skip
    spatial = w.dim() - 2
    stride, dilation = per_axis(stride, spatial), per_axis(dilation, spatial)
    kernel = tuple(w.shape[2:])
    if padding == "valid":
        pads: tuple[tuple[int, int], ...] = ((0, 0),) * spatial
    elif padding == "same":
        totals = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        pads = tuple((t // 2, t - t // 2) for t in totals)
    else:
        pads = tuple((p, p) for p in per_axis(padding, spatial))
    unbatched = x.dim() == spatial + 1
    first = -1 if unbatched else 0
    x_axes = (None if unbatched else 0, first + 1, *range(first + 2, first + 2 + spatial))
    w_axes = (1, 0, *range(2, 2 + spatial)) if transposed else (0, 1, *range(2, 2 + spatial))
    call.emit("conv", [x, w, bias], stride=stride, padding=pads, dilation=dilation, groups=groups,
              transposed=transposed, x_axes=x_axes, w_axes=w_axes)  # fmt: skip


@aten("conv1d", "conv2d", "conv3d")
def conv(call: Call) -> None:
    _conv(call, call["input"], call["weight"], call["bias"], call["stride"], call["padding"], call["dilation"],
          call["groups"], False)  # fmt: skip


@aten("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(call: Call) -> None:
    _conv(call, call["input"], call["weight"], call["bias"], call["stride"], call["padding"], call["dilation"],
          call["groups"], True)  # fmt: skip


@aten("convolution", "_convolution")
def convolution(call: Call) -> None:
    _conv(call, call["input"], call["weight"], call["bias"], call["stride"], call["padding"], call["dilation"],
          call["groups"], bool(call["transposed"]))  # fmt: skip


@aten("embedding")
def embedding(call: Call) -> None:
    table, indices = call["weight"], call["indices"]
    call.emit(
        "embedding", [table, indices], vocabulary=table.shape[0], chance=equal_chance(sample_of(call.tracer, indices))
    )


@aten("scaled_dot_product_attention", "_scaled_dot_product_flash_attention_for_cpu")
def attention(call: Call) -> None:
    q = call["query"]
    scale = call.values.get("scale")
    call.emit(
        "attention", [q, call["key"], call["value"], call.values.get("attn_mask")],
        [call.outputs[0]],
        causal=bool(call.get("is_causal", False)), dropout=float(call.get("dropout_p", 0.0)),
        scale=float(scale) if scale is not None else q.shape[-1] ** -0.5,
        grouped=bool(call.get("enable_gqa", False)),
    )  # fmt: skip
