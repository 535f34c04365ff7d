"""Normalisation layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .table import aten

if TYPE_CHECKING:
    from ..call import Call


def _normalize(call: Call, inputs: list[Any], **attrs: Any) -> None:
    call.emit("normalize", inputs, [call.outputs[0]], **attrs)
    call.companions()


@aten("batch_norm", "native_batch_norm", "_native_batch_norm_legit", "cudnn_batch_norm")
def batch_norm(call: Call) -> None:
    x = call["input"]
    training = bool(call["training"]) or call.get("running_mean") is None
    axes = (0, *range(2, x.dim()))
    _normalize(call, [x, call["weight"], call["bias"], call.get("running_mean"), call.get("running_var")],
               axes=axes, centre=True, channel_axes=(1,), eps=float(call["eps"]), use_running=not training)  # fmt: skip


@aten("instance_norm")
def instance_norm(call: Call) -> None:
    x = call["input"]
    running = not bool(call["use_input_stats"])
    _normalize(call, [x, call["weight"], call["bias"], call.get("running_mean"), call.get("running_var")],
               axes=tuple(range(2, x.dim())), centre=True, channel_axes=(1,), eps=float(call["eps"]),
               use_running=running)  # fmt: skip


@aten("layer_norm", "native_layer_norm")
def layer_norm(call: Call) -> None:
    x = call["input"]
    axes = tuple(range(x.dim() - len(call["normalized_shape"]), x.dim()))
    _normalize(call, [x, call["weight"], call["bias"], None, None], axes=axes, centre=True, channel_axes=axes,
               eps=float(call["eps"]), use_running=False)  # fmt: skip


@aten("rms_norm", "_fused_rms_norm")
def rms_norm(call: Call) -> None:
    x = call["input"]
    axes = tuple(range(x.dim() - len(call["normalized_shape"]), x.dim()))
    eps = call.get("eps", 1.1920929e-07)
    _normalize(call, [x, call["weight"], None, None, None], axes=axes, centre=False, channel_axes=axes,
               eps=float(eps), use_running=False)  # fmt: skip


@aten("group_norm")
def group_norm(call: Call) -> None:
    x = call["input"]
    _normalize(
        call,
        [x, call["weight"], call["bias"], None, None],
        axes=tuple(range(2, x.dim())),
        centre=True,
        channel_axes=(1,),
        eps=float(call["eps"]),
        use_running=False,
        groups=int(call["num_groups"]),
    )


@aten("native_group_norm")
def native_group_norm(call: Call) -> None:
    x = call["input"]
    _normalize(call, [x, call["weight"], call["bias"], None, None], axes=tuple(range(2, x.dim())), centre=True,
               channel_axes=(1,), eps=float(call["eps"]), use_running=False, groups=int(call["group"]))  # fmt: skip


@aten("_weight_norm", "_weight_norm_interface")
def weight_norm(call: Call) -> None:
    v = call["v"]
    dim = call.get("dim", 0)
    call.emit("weight_norm", [v, call["g"]], [call.outputs[0]], axis=None if dim == -1 else dim)
    call.companions()
