"""Activations that have an operation of their own, and softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....core.signal.masks import DEAD
from .arithmetic import elementwise, first, single, step
from .operands import operand, shape_of
from .table import axes_of, axis_of, keras_layer, keras_op

if TYPE_CHECKING:
    from ..call import Call

PLAIN = {
    "Relu": "relu", "Relu6": "relu6", "Sigmoid": "sigmoid", "Softplus": "softplus", "Softsign": "softsign",
    "Silu": "silu", "LogSigmoid": "log_sigmoid", "HardSigmoid": "hardsigmoid", "HardSilu": "hardswish",
    "Selu": "selu", "TanhShrink": "tanhshrink", "HardTanh": "hardtanh", "Mish": "mish",
}  # fmt: skip

WITH_SETTING = {
    "LeakyRelu": ("leaky_relu", "negative_slope"), "Elu": ("elu", "alpha"), "Celu": ("celu", "alpha"),
    "SoftShrink": ("softshrink", "threshold"), "HardShrink": ("hardshrink", "threshold"),
    "Squareplus": ("squareplus", "b"),
}  # fmt: skip


def _plain(fn: str) -> Any:
    def lowering(call: Call) -> None:
        elementwise(call, fn, [first(call)])

    return lowering


def _with_setting(fn: str, setting: str) -> Any:
    def lowering(call: Call) -> None:
        elementwise(call, fn, [first(call)], float(getattr(call.op, setting)))

    return lowering


for _name, _fn in PLAIN.items():
    keras_op(_name)(_plain(_fn))
for _name, (_fn, _setting) in WITH_SETTING.items():
    keras_op(_name)(_with_setting(_fn, _setting))


@keras_op("Gelu")
def gelu(call: Call) -> None:
    elementwise(call, "gelu_tanh" if call.op.approximate else "gelu", [call["x"]])


@keras_op("Threshold")
def threshold(call: Call) -> None:
    elementwise(call, "threshold", [call["x"]], float(call.op.threshold), float(call.op.default_value))


@keras_op("ReLU")
def relu(call: Call) -> None:
    """x above the threshold (and up to the largest value), slope (x - threshold) below it."""
    op, x = call.op, call["x"]
    slope, level = float(op.negative_slope or 0.0), float(op.threshold or 0.0)
    top = None if op.max_value is None else float(op.max_value)
    if slope and top is None and level == 0.0:
        elementwise(call, "leaky_relu", [x], slope)
        return
    above = step(call, "threshold", x, params=(level, 0.0)) if level else step(call, "relu", x)
    if top is not None:
        above = step(call, "clamp", above, params=(0.0, top))
    if not slope:
        elementwise(call, "identity", [above])
        return
    below = step(call, "relu", step(call, "sub", level, x))
    elementwise(call, "sub", [above, step(call, "mul", below, slope)])


@keras_op("SparseSigmoid")
def sparse_sigmoid(call: Call) -> None:
    """(x + 1)/2, cut at 0 and 1."""
    elementwise(call, "clamp", [_half(call)], 0.0, 1.0)


@keras_op("SparsePlus")
def sparse_plus(call: Call) -> None:
    """0 below -1, ((x + 1)/2)^2 up to 1, x above: the squared sparse sigmoid plus relu(x - 1)."""
    bend = step(call, "square", step(call, "clamp", _half(call), params=(0.0, 1.0)))
    line = step(call, "relu", step(call, "sub", call["x"], 1.0))
    elementwise(call, "add", [bend, line])


def _half(call: Call) -> Any:
    return step(call, "mul", step(call, "add", call["x"], 1.0), 0.5)


@keras_op("Glu")
def glu(call: Call) -> None:
    x = call["x"]
    axis = axis_of(call.op.axis, len(x.shape))
    half = shape_of(call.outputs[0])
    a, b = call.emit("split", [x], [half, half], axis=axis, sizes=(half[axis], half[axis]))
    elementwise(call, "mul", [a, step(call, "sigmoid", b)])


@keras_op("Softmax", "LogSoftmax")
def softmax(call: Call) -> None:
    """Over one axis, several (merged into one), or all."""
    x, log = call["x"], call.name == "LogSoftmax"
    shape, axis = shape_of(x), call.op.axis
    if isinstance(axis, int):
        call.emit("softmax", [x], axis=axis_of(axis, len(shape)), log=log)
        return
    several_axes(call, x, axes_of(axis, len(shape)), log)


@keras_layer("Softmax")
def softmax_layer(call: Call) -> None:
    """With a mask, entries that it leaves out are dead."""
    x, mask, axis = call["inputs"], call.get("mask"), call.op.axis
    if mask is not None:
        (x,) = call.emit("where", [operand(mask), x, single(DEAD)], [shape_of(x)])
    axes = axes_of(axis, len(shape_of(x)))
    if len(axes) == 1:
        call.emit("softmax", [x], axis=axes[0], log=False)
    else:
        several_axes(call, x, axes)


def several_axes(call: Call, x: Any, axes: tuple[int, ...], log: bool = False) -> None:
    """A softmax over several axes at once: they go last, become one, and go back."""
    shape = shape_of(x)
    rest = tuple(a for a in range(len(shape)) if a not in axes)
    order = (*rest, *axes)
    moved = call.permuted(x, order)
    turned = tuple(shape[a] for a in order)
    kept = turned[: len(rest)]
    size = 1
    for n in turned[len(rest) :]:
        size *= n
    (made,) = call.emit("softmax", [call.reshaped(moved, (*kept, size))], [(*kept, size)], axis=len(kept), log=log)
    back = call.reshaped(made, turned)
    call.emit("permute", [back], perm=tuple(order.index(a) for a in range(len(shape))))
