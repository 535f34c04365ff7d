"""Pooling, reductions and running sums."""

from __future__ import annotations

from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from keras import backend

from .arithmetic import elementwise, first, step
from .convolution import borders, image_axes
from .operands import known_array, operand, reference_of, shape_of
from .table import axes_of, axis_of, keras_op, per_axis

if TYPE_CHECKING:
    from ..call import Call


@keras_op("MaxPool", "AveragePool")
def pool(call: Call) -> None:
    x = call["inputs"]
    shape = shape_of(x)
    _, axes = image_axes(call.op.data_format, len(shape))
    window = per_axis(call.op.pool_size, len(axes))
    stride = window if call.op.strides is None else per_axis(call.op.strides, len(axes))
    padding = borders(call, tuple(shape[a] for a in axes), window, stride)
    if call.name == "MaxPool":
        call.emit("max_pool", [x], axes=axes, window=window, stride=stride, padding=padding, dilation=(1,) * len(axes))
        return
    if backend.backend() == "torch" and any(low != high for low, high in padding):
        matrices = {
            a: _border_copied(shape[a], w, s, low, shape_of(call.outputs[0])[a])
            for a, w, s, (low, _) in zip(axes, window, stride, padding, strict=True)
        }
        call.emit("interpolate", [x], axes=axes, mode="linear", align_corners=False, matrices=matrices)
        return
    call.emit("average_pool", [x], axes=axes, window=window, stride=stride, padding=padding, include_pad=False)


def _border_copied(n: int, window: int, stride: int, low: int, new: int) -> np.ndarray[Any, Any]:
    """(new, n) weights of means over windows; on the PyTorch backend uneven borders copy the outermost entry."""
    weights = np.zeros((new, n))
    for i in range(new):
        for k in range(window):
            weights[i, min(max(i * stride + k - low, 0), n - 1)] += 1.0 / window
    return weights


@keras_op("AdaptiveMaxPool", "AdaptiveAveragePool")
def adaptive_pool(call: Call) -> None:
    """Windows that share out the axis; where they are of unequal size, the larger one counts."""
    x, out = call["inputs"], shape_of(call.outputs[0])
    shape = shape_of(x)
    _, axes = image_axes(call.op.data_format, len(shape))
    average = call.name == "AdaptiveAveragePool"
    if all(out[a] == 1 for a in axes):
        call.emit("reduce", [x], kind="mean" if average else "max", axes=axes, keepdim=True)
        return
    if any(out[a] > shape[a] for a in axes):
        call.emit("interpolate", [x], axes=axes, mode="nearest", align_corners=False)
        return
    settings: dict[str, Any] = {
        "axes": axes, "window": tuple(-(-shape[a] // out[a]) for a in axes),
        "stride": tuple(shape[a] // out[a] for a in axes), "padding": ((0, 0),) * len(axes),
    }  # fmt: skip
    if average:
        call.emit("average_pool", [x], include_pad=True, **settings)
    else:
        call.emit("max_pool", [x], dilation=(1,) * len(axes), **settings)


REDUCTIONS = {
    "Mean": "mean", "Nanmean": "mean", "Sum": "sum", "Nansum": "sum", "Max": "max", "Amax": "max", "Nanmax": "max",
    "Min": "min", "Amin": "min", "Nanmin": "min", "Prod": "prod", "Nanprod": "prod", "Any": "any", "All": "all",
    "Logsumexp": "logsumexp",
}  # fmt: skip


@keras_op(*REDUCTIONS)
def reduce(call: Call) -> None:
    _reduce(call, REDUCTIONS[call.name])


@keras_op("Var", "Nanvar", "Std", "Nanstd")
def spread(call: Call) -> None:
    _reduce(call, "var" if "var" in call.name.lower() else "std", correction=0.0)


def _reduce(call: Call, kind: str, **attrs: Any) -> None:
    x = first(call)
    axes = axes_of(call.op.axis, len(shape_of(x)))
    call.emit("reduce", [x], kind=kind, axes=axes, keepdim=bool(call.op.keepdims), **attrs)


@keras_op("Moments")
def moments(call: Call) -> None:
    x = call["x"]
    attrs = {"axes": axes_of(call.op.axes, len(shape_of(x))), "keepdim": bool(call.op.keepdims)}
    call.emit("reduce", [x], [call.outputs[0]], kind="mean", **attrs)
    call.emit("reduce", [x], [call.outputs[1]], kind="var", correction=0.0, **attrs)


@keras_op("Average")
def average(call: Call) -> None:
    """The mean; with known weights, the weighted sum over their sum."""
    x, weights = call["x"], call["weights"]
    axes = axes_of(call.op.axis, len(shape_of(x)))
    if weights is None:
        call.emit("reduce", [x], kind="mean", axes=axes, keepdim=False)
        return
    known = known_array(call, weights)
    if known is None:
        call.unknown()
        return
    if known.ndim == 1 and len(axes) == 1:
        known = known.reshape([-1 if a == axes[0] else 1 for a in range(len(shape_of(x)))])
    weighed = step(call, "mul", x, known / known.sum())
    call.emit("reduce", [weighed], kind="sum", axes=axes, keepdim=False)


@keras_op("Ptp")
def range_of(call: Call) -> None:
    """Maximum minus minimum."""
    x, shape = call["x"], shape_of(call.outputs[0])
    attrs = {"axes": axes_of(call.op.axis, len(shape_of(x))), "keepdim": bool(call.op.keepdims)}
    (top,) = call.emit("reduce", [x], [shape], kind="max", **attrs)
    (bottom,) = call.emit("reduce", [x], [shape], kind="min", **attrs)
    elementwise(call, "sub", [top, bottom])


@keras_op("Norm")
def norm(call: Call) -> None:
    """Vector norms, and the Frobenius norm of matrices; other matrix norms are simulated."""
    x, order, axis = call["x"], call.op.ord, call.op.axis
    axes = axes_of(axis, len(shape_of(x)))
    keep = bool(call.op.keepdims)
    if order in (None, "fro", "euclidean") or (order == 2 and len(axes) == 1):
        call.emit("reduce", [x], kind="norm", axes=axes, keepdim=keep, power=2.0)
    elif len(axes) == 1 and order in (inf, float("inf"), "inf"):
        call.emit("reduce", [step(call, "abs", x)], kind="max", axes=axes, keepdim=keep)
    elif len(axes) == 1 and isinstance(order, (int, float)) and order > 0:
        call.emit("reduce", [x], kind="norm", axes=axes, keepdim=keep, power=float(order))
    else:
        call.unknown()


@keras_op("Cumsum", "Cumprod", "Nancumsum", "Nancumprod")
def cumulative(call: Call) -> None:
    x, axis = call["x"], call.op.axis
    if axis is None:
        x = call.reshaped(x, (prod(shape_of(x)),))
    kind = "sum" if "sum" in call.name else "prod"
    call.emit("cumulative", [x], kind=kind, axis=axis_of(axis or 0, len(shape_of(x))))


@keras_op("Diff")
def diff(call: Call) -> None:
    """Differences of neighbours, n times."""
    current: Any = reference_of(call, operand(call["a"]))
    axis = axis_of(call.op.axis, len(current.shape))
    for k in range(int(call.op.n)):
        shape = list(current.shape)
        shape[axis] -= 1
        sides = [
            call.emit("slice", [current], [tuple(shape)], axis=axis, start=s, stop=s + shape[axis], step=1)[0]
            for s in (1, 0)
        ]
        last = k == int(call.op.n) - 1
        current = elementwise(call, "sub", sides, outputs=None if last else [tuple(shape)])
