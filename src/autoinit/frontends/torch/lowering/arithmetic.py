"""Elementwise ops, comparisons, where, masks and softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ....core.signal.masks import DEAD
from ...axes import axis_of
from .table import aten

if TYPE_CHECKING:
    from ..call import Call

UNARY = {
    name: name
    for name in (
        "relu",
        "relu6",
        "selu",
        "silu",
        "mish",
        "sigmoid",
        "log_sigmoid",
        "hardsigmoid",
        "hardswish",
        "tanh",
        "exp",
        "expm1",
        "log",
        "log1p",
        "log2",
        "log10",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "square",
        "abs",
        "neg",
        "sign",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "asinh",
        "atan",
        "asin",
        "acos",
        "atanh",
        "acosh",
        "erf",
        "erfc",
        "erfinv",
        "exp2",
        "floor",
        "ceil",
        "round",
        "trunc",
        "frac",
        "sinc",
        "i0",
        "digamma",
        "lgamma",
        "logical_not",
    )
}
UNARY |= {
    "special_expm1": "expm1", "special_log1p": "log1p", "special_erf": "erf", "special_erfc": "erfc",
    "special_erfinv": "erfinv", "special_exp2": "exp2", "special_expit": "sigmoid", "special_sinc": "sinc",
    "special_i0": "i0", "special_i0e": "i0e", "special_i1": "i1", "special_i1e": "i1e", "special_bessel_j0": "j0",
    "special_bessel_j1": "j1", "special_digamma": "digamma", "special_gammaln": "lgamma", "absolute": "abs",
    "negative": "neg", "sgn": "sign", "arctan": "atan", "arcsinh": "asinh", "positive": "identity", "fix": "trunc",
    "log_sigmoid_forward": "log_sigmoid",
}  # fmt: skip

BINARY = {
    "mul": "mul",
    "multiply": "mul",
    "maximum": "maximum",
    "minimum": "minimum",
    "fmax": "maximum",
    "fmin": "minimum",
    "pow": "pow",
    "atan2": "atan2",
    "fmod": "fmod",
    "remainder": "remainder",
    "hypot": "hypot",
    "logaddexp": "logaddexp",
    "xlogy": "xlogy",
    "special_xlogy": "xlogy",
    "copysign": "copysign",
    "gt": "gt",
    "ge": "ge",
    "lt": "lt",
    "le": "le",
    "eq": "eq",
    "ne": "ne",
    "greater": "gt",
    "less": "lt",
    "logical_and": "logical_and",
    "logical_or": "logical_or",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "__and__": "logical_and",
    "__or__": "logical_or",
}


def elementwise(call: Call, fn: str, operands: list[Any], *params: float, outputs: list[Any] | None = None) -> Any:
    return call.emit("elementwise", operands, outputs, fn=fn, params=tuple(float(p) for p in params))


def _unary(fn: str) -> Any:
    def lowering(call: Call) -> None:
        elementwise(call, fn, [call.args[0]], outputs=[call.outputs[0]])

    return lowering


def _binary(fn: str) -> Any:
    def lowering(call: Call) -> None:
        elementwise(call, fn, [call.args[0], call.args[1]])

    return lowering


for _name, _fn in UNARY.items():
    aten(_name)(_unary(_fn))
for _name, _fn in BINARY.items():
    aten(_name)(_binary(_fn))


@aten("add", "sub", "subtract", "rsub")
def add(call: Call) -> None:
    a, b = call.args[0], call.args[1]
    alpha = call.get("alpha", 1)
    name = call.name.split(".")[1].rstrip("_")
    if name == "rsub":
        a, b = b, a
    if alpha != 1:
        if isinstance(b, torch.Tensor):
            (b,) = elementwise(call, "mul", [b, alpha], outputs=[b.shape])
        else:
            b = b * alpha
    elementwise(call, "add" if name == "add" else "sub", [a, b])


@aten("div", "true_divide", "divide", "floor_divide")
def div(call: Call) -> None:
    a, b = call.args[0], call.args[1]
    mode = call.get("rounding_mode", None) or ("floor" if "floor_divide" in call.name else None)
    if mode is None:
        elementwise(call, "div", [a, b])
        return
    shape = call.outputs[0].shape
    (quotient,) = elementwise(call, "div", [a, b], outputs=[shape])
    elementwise(call, "floor" if mode == "floor" else "trunc", [quotient])


@aten("gelu")
def gelu(call: Call) -> None:
    elementwise(call, "gelu_tanh" if call.get("approximate", "none") == "tanh" else "gelu", [call.args[0]])


@aten("leaky_relu")
def leaky_relu(call: Call) -> None:
    elementwise(call, "leaky_relu", [call.args[0]], call["negative_slope"])


@aten("rrelu", "rrelu_with_noise")
def rrelu(call: Call) -> None:
    """The random slope enters by its root mean square, which keeps E[f^2] exact in training."""
    low, high = float(call["lower"]), float(call["upper"])
    slope = ((low * low + low * high + high * high) / 3) ** 0.5 if call["training"] else (low + high) / 2
    elementwise(call, "leaky_relu", [call.args[0]], slope)


@aten("elu")
def elu(call: Call) -> None:
    elementwise(call, "elu", [call.args[0]], call["alpha"], call["scale"], call["input_scale"])


@aten("celu")
def celu(call: Call) -> None:
    elementwise(call, "celu", [call.args[0]], call["alpha"])


@aten("softplus")
def softplus(call: Call) -> None:
    elementwise(call, "softplus", [call.args[0]], call["beta"], call["threshold"])


@aten("hardtanh")
def hardtanh(call: Call) -> None:
    elementwise(call, "hardtanh", [call.args[0]], call["min_val"], call["max_val"])


@aten("softshrink", "hardshrink")
def shrink(call: Call) -> None:
    elementwise(call, call.name.split(".")[1].rstrip("_"), [call.args[0]], call["lambd"])


@aten("threshold")
def threshold(call: Call) -> None:
    elementwise(call, "threshold", [call.args[0]], call["threshold"], call["value"])


@aten("logit", "special_logit")
def logit(call: Call) -> None:
    elementwise(call, "logit", [call.args[0]])


@aten("nan_to_num")
def nan_to_num(call: Call) -> None:
    call.emit("identity", [call.args[0]])


@aten("clamp", "clip", "clamp_min", "clamp_max")
def clamp(call: Call) -> None:
    low, high = call.get("min"), call.get("max")
    x: Any = call.args[0]
    if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
        shape = call.outputs[0].shape
        if low is not None:
            (x,) = elementwise(call, "maximum", [x, low], outputs=[shape if high is not None else call.outputs[0]])
        if high is not None:
            elementwise(call, "minimum", [x, high])
        return
    infinite = float("inf")
    elementwise(call, "clamp", [x], -infinite if low is None else low, infinite if high is None else high)


@aten("prelu", "_prelu_kernel")
def prelu(call: Call) -> None:
    """relu(x) - w relu(-x), the slope running along axis 1."""
    x, w = call.args[0], call.args[1]
    shape = x.shape
    (positive,) = elementwise(call, "relu", [x], outputs=[shape])
    (negated,) = elementwise(call, "neg", [x], outputs=[shape])
    (negative,) = elementwise(call, "relu", [negated], outputs=[shape])
    slope: Any = w
    if w.dim() == 1 and x.dim() > 1:
        (slope,) = call.emit("reshape", [w], [(w.shape[0],) + (1,) * (x.dim() - 2)])
    (scaled,) = elementwise(call, "mul", [negative, slope], outputs=[shape])
    elementwise(call, "sub", [positive, scaled])


@aten("glu")
def glu(call: Call) -> None:
    x = call.args[0]
    axis = axis_of(call["dim"], x.dim())
    half = tuple(call.outputs[0].shape)
    a, b = call.emit("split", [x], [half, half], axis=axis, sizes=(half[axis], half[axis]))
    (gate,) = elementwise(call, "sigmoid", [b], outputs=[half])
    elementwise(call, "mul", [a, gate])


def _is_dead(item: Any) -> bool:
    """A very negative number: it marks entries for a softmax rather than being a value."""
    if isinstance(item, torch.Tensor):
        return item.numel() == 1 and not isinstance(item, FakeTensor) and float(item) <= DEAD
    return float(item) <= DEAD


@aten("where")
def where(call: Call) -> None:
    if len(call.args) < 3:
        call.unknown()
        return
    condition, a, b = call.args[:3]
    if isinstance(condition, FakeTensor) and not any(_is_dead(item) for item in (a, b)):
        elementwise(call, "where", [condition, a, b])  # the condition may be a function of the same data
        return
    inputs: list[Any] = [condition]
    for item in (a, b):
        if _is_dead(item):
            item = torch.tensor(DEAD)  # a mark: finfo.min and minus infinity would only overflow
        elif not isinstance(item, torch.Tensor):
            item = torch.tensor(float(item))
        inputs.append(item)
    call.emit("where", inputs)


@aten("masked_fill")
def masked_fill(call: Call) -> None:
    value = call.args[2]
    if isinstance(value, torch.Tensor):
        array = call.tracer.reference(value)
        values = getattr(array, "array", lambda: None)()
        value = 0.0 if values is None else float(values.reshape(-1)[0])
    x, mask = call.args[0], call.args[1]
    if isinstance(mask, FakeTensor) and not _is_dead(value):
        elementwise(call, "where", [mask, float(value), x])
        return
    call.emit("masked_fill", [x, mask], value=float(value))


@aten("lerp")
def lerp(call: Call) -> None:
    start, end, weight = call.args[:3]
    shape = call.outputs[0].shape
    (difference,) = elementwise(call, "sub", [end, start], outputs=[shape])
    (step,) = elementwise(call, "mul", [difference, weight], outputs=[shape])
    elementwise(call, "add", [start, step])


@aten("addcmul", "addcdiv")
def addcmul(call: Call) -> None:
    base, a, b = call.args[:3]
    shape = call.outputs[0].shape
    (term,) = elementwise(call, "mul" if "addcmul" in call.name else "div", [a, b], outputs=[shape])
    value = call.get("value", 1)
    if value != 1:
        (term,) = elementwise(call, "mul", [term, value], outputs=[shape])
    elementwise(call, "add", [base, term])


@aten("softmax", "_softmax", "log_softmax", "_log_softmax", "special_softmax", "special_log_softmax", "_safe_softmax")
def softmax(call: Call) -> None:
    x = call.args[0]
    call.emit("softmax", [x], axis=axis_of(call["dim"], x.dim()), log="log_softmax" in call.name)
