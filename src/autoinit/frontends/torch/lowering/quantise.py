"""Fake quantisation of weights: s * clamp(round(x/s), low, high), the zero point taken off both ends.

That of data is left to a sample: steps so fine are more than a quadrature can follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ....core.graph.graph import ParameterView
from .arithmetic import elementwise
from .table import aten

if TYPE_CHECKING:
    from ..call import Call


@aten(
    "fake_quantize_per_tensor_affine", "fake_quantize_per_tensor_affine_cachemask",
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "_fake_quantize_learnable_per_tensor_affine",
)  # fmt: skip
def per_tensor(call: Call) -> None:
    if _is_weight(call):
        _quantised(call, call["scale"])
    else:
        call.unknown()


@aten(
    "fake_quantize_per_channel_affine", "fake_quantize_per_channel_affine_cachemask",
    "_fake_quantize_learnable_per_channel_affine",
)  # fmt: skip
def per_channel(call: Call) -> None:
    if not _is_weight(call):
        call.unknown()
        return
    x, scale, axis = call["self"], call["scale"], call["axis"] % call["self"].dim()
    shape = (scale.shape[0], *(1,) * (x.dim() - axis - 1))
    _quantised(call, call.emit("reshape", [scale], [shape])[0])


@aten("_fused_moving_avg_obs_fq_helper")
def observed(call: Call) -> None:
    """Quantised by the range that an observer finds: the steps follow the tensor and are too fine to matter."""
    reference = call.tracer.reference(call["self"])
    if isinstance(reference, ParameterView):
        call.alias(reference)
    else:
        call.emit("identity", [reference], [call.outputs[0]])
    call.companions()


def _is_weight(call: Call) -> bool:
    return call.tracer.origins.of(call["self"]).weight


def _quantised(call: Call, step: Any) -> None:
    x = call["self"]
    zero = _number(call["zero_point"])
    (units,) = elementwise(call, "div", [x, step], outputs=[x.shape])
    (rounded,) = elementwise(call, "round", [units], outputs=[x.shape])
    (cut,) = elementwise(
        call, "clamp", [rounded], call["quant_min"] - zero, call["quant_max"] - zero, outputs=[x.shape]
    )
    elementwise(call, "mul", [cut, step], outputs=[call.outputs[0]])
    call.companions()


def _number(zero_point: Any) -> float:
    """The zero point; of several the mean, and 0 where there is no value yet."""
    if not isinstance(zero_point, torch.Tensor):
        return float(zero_point)
    known = not isinstance(zero_point, FakeTensor) and zero_point.device.type != "meta"
    return float(zero_point.float().mean()) if known else 0.0
