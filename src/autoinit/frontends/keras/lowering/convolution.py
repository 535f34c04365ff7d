"""Convolutions: plain, depthwise, transposed, of any rank, channels last or first.

Kernels are turned into (out, in, *spatial) views, so that rules see one layout. Borders are those that the backends
make: "same" puts the odd place behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keras import backend

from .operands import shape_of
from .table import keras_op, per_axis

if TYPE_CHECKING:
    from ..call import Call


def image_axes(data_format: Any, ndim: int) -> tuple[int, tuple[int, ...]]:
    """(channel axis, spatial axes) of a batch of images."""
    form = data_format or backend.image_data_format()
    return (1, tuple(range(2, ndim))) if form == "channels_first" else (ndim - 1, tuple(range(1, ndim - 1)))


def same_padding(n: int, window: int, stride: int) -> tuple[int, int]:
    """Zeros before and behind, so that ceil(n / stride) windows fit."""
    total = max((-(-n // stride) - 1) * stride + window - n, 0)
    return total // 2, total - total // 2


def borders(call: Call, sizes: tuple[int, ...], windows: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Padding per spatial axis; `windows` with their dilation."""
    if str(call.op.padding).lower() != "same":
        return ((0, 0),) * len(sizes)
    return tuple(same_padding(n, w, s) for n, w, s in zip(sizes, windows, strides, strict=True))


def _conv(call: Call, x: Any, kernel: Any, groups: int) -> None:
    """One convolution; kernel (*spatial, in, out)."""
    shape, taps = shape_of(x), shape_of(kernel)[:-2]
    n = len(taps)
    channel, spatial = image_axes(call.op.data_format, len(shape))
    strides = per_axis(call.op.strides, n)
    dilation = per_axis(call.op.dilation_rate, n)
    windows = tuple(d * (k - 1) + 1 for d, k in zip(dilation, taps, strict=True))
    sizes = tuple(shape[a] for a in spatial)
    padding = borders(call, sizes, windows, strides)
    weight = call.permuted(kernel, (n + 1, n, *range(n)))
    call.emit(
        "conv", [x, weight, None], stride=strides, padding=padding, dilation=dilation, groups=groups,
        transposed=False, x_axes=(0, channel, *spatial), w_axes=tuple(range(n + 2)),
    )  # fmt: skip


@keras_op("Conv")
def conv(call: Call) -> None:
    x, kernel = call["inputs"], call["kernel"]
    channel, _ = image_axes(call.op.data_format, len(x.shape))
    _conv(call, x, kernel, shape_of(x)[channel] // shape_of(kernel)[-2])


def _per_channel(call: Call, kernel: Any) -> tuple[Any, int]:
    """A depthwise kernel (*spatial, in, multiplier) as (*spatial, 1, in x multiplier), and the number of groups."""
    *taps, inputs, multiplier = shape_of(kernel)
    return call.reshaped(kernel, (*taps, 1, inputs * multiplier)), inputs


@keras_op("DepthwiseConv")
def depthwise(call: Call) -> None:
    kernel, groups = _per_channel(call, call["kernel"])
    _conv(call, call["inputs"], kernel, groups)


@keras_op("ConvTranspose")
def transposed(call: Call) -> None:
    """Output place = stride * input place + dilation * tap - low; "same" cuts the surplus, the odd place behind."""
    x, kernel, out = call["inputs"], call["kernel"], call.outputs[0]
    taps = shape_of(kernel)[:-2]
    n = len(taps)
    channel, spatial = image_axes(call.op.data_format, len(x.shape))
    strides, dilation = per_axis(call.op.strides, n), per_axis(call.op.dilation_rate, n)
    padding = []
    for k, axis in enumerate(spatial):
        whole = (int(x.shape[axis]) - 1) * strides[k] + dilation[k] * (taps[k] - 1) + 1
        surplus = max(whole - int(out.shape[axis]), 0) if str(call.op.padding).lower() == "same" else 0
        padding.append((surplus // 2, surplus - surplus // 2))
    weight = call.permuted(kernel, (n + 1, n, *range(n)))  # (in, out, *spatial)
    call.emit(
        "conv", [x, weight, None], stride=strides, padding=tuple(padding), dilation=dilation, groups=1,
        transposed=True, x_axes=(0, channel, *spatial), w_axes=(1, 0, *range(2, n + 2)),
    )  # fmt: skip
