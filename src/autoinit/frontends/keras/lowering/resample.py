"""Images: resizing, cropping, padding, patches, and the preprocessing layers that scale."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Constant
from .arithmetic import elementwise, step
from .convolution import image_axes, same_padding
from .operands import reference_of, settle, shape_of
from .table import keras_layer, keras_op, per_axis

if TYPE_CHECKING:
    from ..call import Call

MODES = {"nearest": "nearest", "bilinear": "linear", "bicubic": "cubic", "lanczos3": "cubic", "lanczos5": "cubic"}
LARGEST_MATRIX = 1024
"""Axes up to this size are resampled by the matrix that the real operation has."""


@keras_op("Resize")
def resize(call: Call) -> None:
    op = call.op
    if op.crop_to_aspect_ratio or op.pad_to_aspect_ratio:
        call.unknown()
    else:
        _resample(call, call["images"], op.interpolation, bool(op.antialias), op.data_format)


@keras_layer("Resizing")
def resizing(call: Call) -> None:
    layer, x = call.op, call.get("data", call.get("images", call.get("inputs")))
    if not hasattr(x, "shape") or layer.crop_to_aspect_ratio or layer.pad_to_aspect_ratio:
        call.unknown()
    else:
        _resample(call, x, layer.interpolation, bool(getattr(layer, "antialias", False)), layer.data_format)


def _resample(call: Call, x: Any, interpolation: str, antialias: bool, data_format: Any) -> None:
    """Height and width by the weights that the backend uses: the image of every unit vector."""
    shape, out = shape_of(x), shape_of(call.outputs[0])
    first = len(shape) == 3
    _, axes = image_axes(data_format, 4)
    axes = tuple(a - first for a in axes)
    matrices = {}
    for axis in axes:
        n, new = shape[axis], out[axis]
        if n != new and n <= LARGEST_MATRIX and interpolation != "nearest":
            matrices[axis] = _matrix(call, n, new, interpolation, antialias)
    call.emit("interpolate", [x], axes=axes, mode=MODES[interpolation], align_corners=False, antialias=antialias,
              matrices=matrices)  # fmt: skip


def _matrix(call: Call, n: int, new: int, interpolation: str, antialias: bool) -> np.ndarray[Any, Any]:
    """(new, n): one image column per unit vector, resized along its height."""
    from keras import ops

    unit = np.eye(n, dtype="float32")[None, :, :, None]
    with call.tracer.pause():
        made = ops.image.resize(unit, (new, n), interpolation=interpolation, antialias=antialias,
                                data_format="channels_last")  # fmt: skip
        return np.asarray(ops.convert_to_numpy(made), float)[0, :, :, 0]


@keras_op("PadImages", "CropImages")
def frame(call: Call) -> None:
    """Zeros around an image, or its border taken off."""
    x, out, op = call["images"], shape_of(call.outputs[0]), call.op
    shape = list(shape_of(x))
    first = len(shape) == 3
    _, axes = image_axes(op.data_format, 4)
    word = "padding" if call.name == "PadImages" else "cropping"
    starts = []
    for axis, (before, behind) in zip(axes, (("top", "bottom"), ("left", "right")), strict=True):
        low, high = getattr(op, f"{before}_{word}"), getattr(op, f"{behind}_{word}")
        change = abs(out[axis - first] - shape[axis - first])
        starts.append(change - int(high) if low is None else int(low))
    if call.name == "PadImages":
        pads = [(0, 0)] * len(shape)
        for axis, start in zip(axes, starts, strict=True):
            a = axis - first
            pads[a] = (start, out[a] - shape[a] - start)
        call.emit("pad", [x], pads=tuple(pads), mode="constant", value=0.0)
        return
    current: Any = reference_of(call, x)
    for axis, start in zip(axes, starts, strict=True):
        a = axis - first
        shape[a] = out[a]
        (current,) = call.emit("slice", [current], [tuple(shape)], axis=a, start=start, stop=start + out[a], step=1)
    settle(call, current)


@keras_op("ExtractPatches")
def patches(call: Call) -> None:
    """Windows of an image laid out as channels (of images; volumes are simulated)."""
    x, out, op = call["images"], shape_of(call.outputs[0]), call.op
    shape = shape_of(x)
    size = per_axis(op.size, 2)
    if len(shape) != 4 or len(size) != 2:
        call.unknown()
        return
    channel, axes = image_axes(op.data_format, 4)
    strides = size if op.strides is None else per_axis(op.strides, 2)
    dilation = per_axis(op.dilation_rate, 2)
    padding = (0, 0)
    current = call.permuted(x, (0, channel, *axes))
    if str(op.padding).lower() == "same":
        wide = [d * (k - 1) + 1 for d, k in zip(dilation, size, strict=True)]
        sides = [same_padding(shape[a], w, s) for a, w, s in zip(axes, wide, strides, strict=True)]
        grown = (shape[0], shape[channel], *(shape[a] + sum(p) for a, p in zip(axes, sides, strict=True)))
        (current,) = call.emit("pad", [current], [grown], pads=((0, 0), (0, 0), *sides), mode="constant", value=0.0)
    counts = tuple(out[a] for a in axes)
    columns = (shape[0], shape[channel] * prod(size), prod(counts))
    (made,) = call.emit("im2col", [current], [columns], window=size, stride=strides, padding=padding, dilation=dilation)
    grid = call.reshaped(made, (columns[0], columns[1], *counts))
    settle(call, grid if channel == 1 else call.permuted(grid, (0, 2, 3, 1)))


@keras_op("Unfold")
def unfold(call: Call) -> None:
    op = call.op
    call.emit("im2col", [call["x"]], window=per_axis(op.kernel_size, 2), stride=per_axis(op.stride, 2),
              padding=per_axis(op.padding, 2), dilation=per_axis(op.dilation, 2))  # fmt: skip


@keras_op("Fold")
def fold(call: Call) -> None:
    op = call.op
    call.emit("col2im", [call["x"]], window=per_axis(op.kernel_size, 2), stride=per_axis(op.stride, 2),
              padding=per_axis(op.padding, 2), dilation=per_axis(op.dilation, 2))  # fmt: skip


@keras_op("ExtractSequences")
def sequences(call: Call) -> None:
    x = call["x"]
    call.emit("unfold", [x], axis=len(shape_of(x)) - 1, size=int(call.op.sequence_length),
              step=int(call.op.sequence_stride))  # fmt: skip


@keras_op("RGBToGrayscale")
def grayscale(call: Call) -> None:
    """A weighted sum over the channels."""
    x = call["images"]
    channel, _ = image_axes(call.op.data_format, 4)
    axis = channel - (len(shape_of(x)) == 3)
    weights = np.array([0.2989, 0.5870, 0.1140]).reshape([3 if a == axis else 1 for a in range(len(shape_of(x)))])
    call.emit("reduce", [step(call, "mul", x, weights)], kind="sum", axes=(axis,), keepdim=True)


@keras_layer("Rescaling")
def rescaling(call: Call) -> None:
    """x scale + offset."""
    x = call["inputs"]
    scale, offset = (_setting(s, len(shape_of(x))) for s in (call.op.scale, call.op.offset))
    _affine(call, x, scale, offset)


def _setting(value: Any, ndim: int) -> np.ndarray[Any, Any]:
    """A number, or one per channel, which broadcasts along the last axis (channels first: along the first)."""
    array = np.asarray(value, float)
    channel, _ = image_axes(None, ndim)
    return array.reshape(-1, 1, 1) if array.ndim == 1 and channel == 1 else array


def _affine(call: Call, x: Any, scale: np.ndarray[Any, Any], shift: np.ndarray[Any, Any]) -> None:
    """One number each: a function of x; tables: one node that knows how they go together."""
    if scale.size == shift.size == 1:
        elementwise(call, "affine", [x], float(scale.reshape(-1)[0]), float(shift.reshape(-1)[0]))
    else:
        call.emit("affine", [x, Constant(scale.shape, lambda: scale), Constant(shift.shape, lambda: shift)])


@keras_layer("Normalization")
def normalization(call: Call) -> None:
    """(x - mean) / max(sqrt(variance), epsilon), or back, with the values that were learned from data."""
    from keras import config, ops

    layer, x = call.op, call["inputs"]
    if layer.mean is None:
        call.unknown()
        return
    with call.tracer.pause():
        mean, variance = (np.asarray(ops.convert_to_numpy(v), float) for v in (layer.mean, layer.variance))
    deviation = np.maximum(np.sqrt(variance), config.epsilon())
    if layer.invert:
        _affine(call, x, deviation, mean)
    else:
        _affine(call, x, 1.0 / deviation, -mean / deviation)
