"""Elementwise operations, comparisons and choices."""

from __future__ import annotations

from math import inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Constant, Value
from ....core.signal.masks import DEAD
from ...views import constant_view
from ..call import is_number
from .bias import is_bias
from .operands import carries_signal, known_array, operand, reference_of, shape_of
from .table import keras_op
from .triangles import triangle_of

if TYPE_CHECKING:
    from ..call import Call

UNARY = {
    "Absolute": "abs", "Abs": "abs", "Fabs": "abs", "Negative": "neg", "Sign": "sign", "Signbit": "signbit",
    "Exp": "exp", "Exp2": "exp2", "Expm1": "expm1", "Log": "log", "Log10": "log10", "Log1p": "log1p", "Log2": "log2",
    "Sqrt": "sqrt", "Rsqrt": "rsqrt", "Reciprocal": "reciprocal", "Square": "square", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Arcsin": "asin", "Arccos": "acos",
    "Arctan": "atan", "Arcsinh": "asinh", "Arccosh": "acosh", "Arctanh": "atanh", "Erf": "erf", "Erfc": "erfc",
    "Erfinv": "erfinv", "Sinc": "sinc", "I0": "i0", "Floor": "floor", "Ceil": "ceil", "Trunc": "trunc",
    "LogicalNot": "logical_not", "Isfinite": "isfinite", "Isinf": "isinf", "Isnan": "isnan", "Isneginf": "isinf",
    "Isposinf": "isinf", "NanToNum": "nan_to_num",
}  # fmt: skip

BINARY = {
    "Divide": "div", "TrueDivide": "div", "DivideNoNan": "div",
    "Maximum": "maximum", "Fmax": "maximum", "Minimum": "minimum", "Fmin": "minimum", "Power": "pow",
    "Arctan2": "atan2", "Mod": "remainder", "Fmod": "fmod", "FloorDivide": "floor_divide", "Hypot": "hypot",
    "Logaddexp": "logaddexp", "Logaddexp2": "logaddexp2", "Greater": "gt", "GreaterEqual": "ge", "Less": "lt",
    "LessEqual": "le", "Equal": "eq", "NotEqual": "ne", "LogicalAnd": "logical_and", "LogicalOr": "logical_or",
    "LogicalXor": "logical_xor", "BitwiseAnd": "logical_and", "BitwiseOr": "logical_or", "BitwiseXor": "logical_xor",
}  # fmt: skip


def elementwise(call: Call, fn: str, operands: list[Any], *params: float, outputs: list[Any] | None = None) -> Any:
    """One elementwise node; its only output."""
    made = call.emit(
        "elementwise", [operand(o) for o in operands], outputs, fn=fn, params=tuple(float(p) for p in params)
    )
    return made[0]


def step(call: Call, fn: str, *operands: Any, params: tuple[float, ...] = ()) -> Any:
    """An elementwise node on the way to the output, of the shape that its operands broadcast to."""
    shape = np.broadcast_shapes(*(shape_of(o) for o in operands))
    return elementwise(call, fn, list(operands), *params, outputs=[shape])


def first(call: Call) -> Any:
    """The tensor that a call of one argument is about."""
    return next(iter(call.values.values()))


def _unary(fn: str) -> Any:
    def lowering(call: Call) -> None:
        elementwise(call, fn, [first(call)])

    return lowering


def _binary(fn: str) -> Any:
    def lowering(call: Call) -> None:
        a, b, *_ = call.values.values()
        elementwise(call, fn, [a, b])

    return lowering


for _name, _fn in UNARY.items():
    keras_op(_name)(_unary(_fn))
for _name, _fn in BINARY.items():
    keras_op(_name)(_binary(_fn))


@keras_op("Add")
def add(call: Call) -> None:
    a, b = call["x1"], call["x2"]
    if not is_bias(call, a, b) and not is_bias(call, b, a):
        elementwise(call, "add", [a, b])


@keras_op("Subtract")
def subtract(call: Call) -> None:
    """What is subtracted and known is added with the other sign: x - 1e9 (1 - mask) is an additive mask too."""
    a, b = call["x1"], call["x2"]
    known = reference_of(call, b)
    if isinstance(known, Constant) and isinstance(reference_of(call, a), Value):
        elementwise(call, "add", [a, constant_view(known, known.shape, lambda c: -np.asarray(c, np.float64))])
    else:
        elementwise(call, "sub", [a, b])


@keras_op("Multiply")
def multiply(call: Call) -> None:
    """A table of zeros and ones that is a triangle cuts one out, as in x * tril(ones)."""
    a, b = call["x1"], call["x2"]
    for x, table in ((a, b), (b, a)):
        cut = triangle_of(call, x, table)
        if cut is not None:
            call.emit("triangle", [x], lower=cut[0], diagonal=cut[1])
            return
    elementwise(call, "mul", [a, b])


@keras_op("Clip")
def clip(call: Call) -> None:
    low, high = call.op.x_min, call.op.x_max
    ends = [-inf if low is None else known_array(call, low), inf if high is None else known_array(call, high)]
    if all(end is not None and np.size(end) == 1 for end in ends):
        elementwise(call, "clamp", [call["x"]], *(float(np.asarray(end).reshape(())) for end in ends))
        return
    x = call["x"] if low is None else step(call, "maximum", call["x"], low)
    elementwise(call, "minimum", [x, inf if high is None else high])


@keras_op("Cbrt")
def cbrt(call: Call) -> None:
    """sign(x) |x|^(1/3)."""
    x = call["x"]
    root = step(call, "pow", step(call, "abs", x), 1.0 / 3.0)
    elementwise(call, "mul", [step(call, "sign", x), root])


@keras_op("Deg2rad", "Rad2deg")
def angles(call: Call) -> None:
    elementwise(call, "mul", [call["x"], pi / 180.0 if call.name == "Deg2rad" else 180.0 / pi])


@keras_op("Heaviside")
def heaviside(call: Call) -> None:
    """Of a continuous law: the value at zero itself does not matter."""
    elementwise(call, "gt", [call["x1"], 0.0])


@keras_op("Ldexp")
def ldexp(call: Call) -> None:
    elementwise(call, "mul", [call["x1"], step(call, "exp2", call["x2"])])


@keras_op("Round")
def rounded(call: Call) -> None:
    scale = 10.0 ** int(call.op.decimals or 0)
    if scale == 1.0:
        elementwise(call, "round", [call["x"]])
        return
    whole = step(call, "round", step(call, "mul", call["x"], scale))
    elementwise(call, "div", [whole, scale])


@keras_op("Isreal", "Ones", "OnesLike")
def ones(call: Call) -> None:
    _filled(call, 1.0)


@keras_op("ZerosLike", "EmptyLike", "Zeros")
def zeros(call: Call) -> None:
    _filled(call, 0.0)


@keras_op("Full", "FullLike")
def full(call: Call) -> None:
    value = call["fill_value"]
    if isinstance(value, (bool, int, float)):
        _filled(call, float(value))
    else:
        call.emit("expand", [operand(value)])


def _filled(call: Call, value: float) -> None:
    shape = shape_of(call.outputs[0])
    one = np.full((1,) * len(shape), value)
    call.alias(Constant(shape, lambda: one))


def is_dead(call: Call, item: Any) -> bool:
    """A very negative number: it marks entries for a softmax rather than being a value."""
    if not isinstance(item, (bool, int, float)) and np.prod(shape_of(item), dtype=int) != 1:
        return False
    value = known_array(call, item)
    return value is not None and float(value.reshape(())) <= DEAD


@keras_op("Where")
def where(call: Call) -> None:
    condition, a, b = call["condition"], call["x1"], call["x2"]
    if a is None or b is None:
        call.unknown()
        return
    dead = [is_dead(call, item) for item in (a, b)]
    if isinstance(reference_of(call, condition), Value) and not any(dead):
        elementwise(call, "where", [condition, a, b])  # the condition may be a function of the same data
        return
    # a mark: finfo.min and minus infinity would only overflow
    sides: list[Any] = [single(DEAD) if d else operand(item) for d, item in zip(dead, (a, b), strict=True)]
    sides = [single(float(s)) if is_number(s) else s for s in sides]
    call.emit("where", [single(float(condition)) if is_number(condition) else operand(condition), *sides])


def single(value: float) -> Constant:
    """A number as a constant, for ops whose operands are tensors all."""
    return Constant((), lambda: np.asarray(value))


@keras_op("Cast", "SaturateCast", "ConvertToTensor", "StopGradient", "Copy", "Array", "Conjugate", "Conj", "View")
def same(call: Call) -> None:
    """The same entries; a cast of floats to integers leaves no signal, and a view as another type neither."""
    x, out = first(call), call.outputs[0]
    ref = reference_of(call, x)
    if shape_of(x) != shape_of(out) or (carries_signal(x) and not carries_signal(out)):
        call.unknown()
    elif isinstance(ref, Value):
        call.emit("identity", [ref])
    else:
        call.alias(ref)


@keras_op("Real", "Imag")
def parts(call: Call) -> None:
    """Real tensors only; complex ones are simulated."""
    x = call["x"]
    if "complex" in str(x.dtype):
        call.unknown()
    elif call.name == "Real":
        same(call)
    else:
        zeros(call)
