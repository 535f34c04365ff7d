"""Normalisation: batch, layer, RMS, group and unit norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keras import config

from ....core.graph.graph import Value
from ..spectral import normalised
from .arithmetic import elementwise, step
from .operands import reference_of, shape_of
from .table import axes_of, axis_of, keras_layer, keras_op

if TYPE_CHECKING:
    from ..call import Call


@keras_layer("BatchNormalization")
def batch_norm_layer(call: Call) -> None:
    """In training by the statistics of the batch (unless the layer is frozen), else by the moving ones."""
    layer, x = call.op, call["inputs"]
    n = len(shape_of(x))
    axis = axis_of(layer.axis, n)
    call.emit(
        "normalize",
        [x, layer.gamma if layer.scale else None, layer.beta if layer.center else None, layer.moving_mean,
         layer.moving_variance],
        axes=tuple(a for a in range(n) if a != axis), centre=True, channel_axes=(axis,), eps=float(layer.epsilon),
        use_running=not (call.training and layer.trainable),
    )  # fmt: skip


@keras_op("BatchNorm")
def batch_norm(call: Call) -> None:
    """By statistics that are given: constants, or computed in forward (then written out)."""
    x, mean, variance, offset, scale = (call.get(k) for k in ("x", "mean", "variance", "offset", "scale"))
    n, eps = len(shape_of(x)), float(call.op.epsilon)
    axis = axis_of(call.op.axis, n)
    given = [reference_of(call, s) for s in (mean, variance)]
    if not any(isinstance(ref, Value) for ref in given):
        call.emit(
            "normalize", [x, scale, offset, *given], axes=tuple(a for a in range(n) if a != axis), centre=True,
            channel_axes=(axis,), eps=eps, use_running=True,
        )  # fmt: skip
        return
    shape = tuple(shape_of(x)[axis] if a == axis else 1 for a in range(n))
    centred = step(call, "sub", x, call.reshaped(mean, shape))
    inverse = step(call, "rsqrt", step(call, "add", call.reshaped(variance, shape), eps))
    if scale is None and offset is None:
        elementwise(call, "mul", [centred, inverse])
        return
    current = step(call, "mul", centred, inverse)
    if scale is not None:
        current = step(call, "mul", current, call.reshaped(scale, shape))
    elementwise(call, "identity" if offset is None else "add",
                [current] if offset is None else [current, call.reshaped(offset, shape)])  # fmt: skip


def _epsilon(call: Call) -> float:
    return float(config.epsilon() if call.op.epsilon is None else call.op.epsilon)


def _affine_axes(call: Call, scale: Any, axes: tuple[int, ...], n: int) -> tuple[int, ...]:
    """The axes of x that a scale runs along: those that were averaged over, or as its shape broadcasts."""
    if scale is None or len(shape_of(scale)) == len(axes):
        return axes
    return tuple(range(n - len(shape_of(scale)), n))


@keras_op("LayerNorm")
def layer_norm(call: Call) -> None:
    """With `rms_scaling` x is divided by its standard deviation but keeps its mean."""
    x, gamma, beta = call["x"], call.get("gamma"), call.get("beta")
    n = len(shape_of(x))
    axes = tuple(sorted(axes_of(call.op.axis, n)))
    if call.op.rms_scaling:
        shape = tuple(1 if a in axes else m for a, m in enumerate(shape_of(x)))
        (variance,) = call.emit("reduce", [x], [shape], kind="var", axes=axes, keepdim=True, correction=0.0)
        inverse = step(call, "rsqrt", step(call, "add", variance, _epsilon(call)))
        if gamma is None:
            elementwise(call, "mul", [x, inverse])
            return
        wide = tuple(m if a in axes else 1 for a, m in enumerate(shape_of(x)))
        elementwise(call, "mul", [step(call, "mul", x, inverse), call.reshaped(gamma, wide)])
        return
    channels = _affine_axes(call, gamma if gamma is not None else beta, axes, n)
    call.emit("normalize", [x, gamma, beta, None, None], axes=axes, centre=True, channel_axes=channels,
              eps=_epsilon(call), use_running=False)  # fmt: skip


@keras_op("RMSNorm")
def rms_norm(call: Call) -> None:
    x, scale = call["x"], call.get("scale")
    n = len(shape_of(x))
    axes = tuple(sorted(axes_of(call.op.axis, n)))
    call.emit("normalize", [x, scale, None, None, None], axes=axes, centre=False,
              channel_axes=_affine_axes(call, scale, axes, n), eps=_epsilon(call), use_running=False)  # fmt: skip


@keras_op("Normalize")
def unit_norm(call: Call) -> None:
    """Divided by a norm over the axes: by the L2 norm in one node, by others written out."""
    x = call["x"]
    axes = axes_of(call.op.axis, len(shape_of(x)))
    if call.op.order == 2:
        call.emit("normalize", [x, None, None, None, None], axes=axes, centre=False, channel_axes=(),
                  eps=_epsilon(call), use_running=False, l2=True)  # fmt: skip
        return
    shape = tuple(1 if a in axes else m for a, m in enumerate(shape_of(x)))
    (norm,) = call.emit("reduce", [x], [shape], kind="norm", axes=axes, keepdim=True, power=float(call.op.order))
    elementwise(call, "div", [x, step(call, "maximum", norm, _epsilon(call))])


@keras_layer("GroupNormalization")
def group_norm(call: Call) -> None:
    """Channels in groups, each normalised over its places and members."""
    layer, x = call.op, call["inputs"]
    shape = shape_of(x)
    axis = axis_of(layer.axis, len(shape))
    groups = shape[axis] if layer.groups == -1 else int(layer.groups)
    call.emit(
        "normalize", [x, layer.gamma if layer.scale else None, layer.beta if layer.center else None, None, None],
        axes=tuple(a for a in range(1, len(shape)) if a != axis), centre=True, channel_axes=(axis,),
        eps=float(layer.epsilon), use_running=False, groups=groups,
    )  # fmt: skip


@keras_op("SpectralKernel")
def spectral(call: Call) -> None:
    """A weight whose own scale is divided out."""
    call.emit("custom", [call["kernel"]], rule=normalised, owner=call.op.layer, users_own=False, scale_free=True)
