"""Functions of entries, comparisons, choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Constant
from ....core.signal.masks import DEAD
from ..tape import Atom, number_of
from .table import lax

if TYPE_CHECKING:
    from ..call import Call

UNARY = {
    name: name
    for name in (
        "exp", "exp2", "expm1", "log", "log1p", "tanh", "sin", "cos", "tan", "sinh", "cosh", "asin", "acos", "atan",
        "asinh", "acosh", "atanh", "sqrt", "rsqrt", "abs", "sign", "floor", "ceil", "round", "neg", "erf", "erfc",
        "square", "digamma", "lgamma",
    )
} | {"logistic": "sigmoid", "erf_inv": "erfinv", "is_finite": "isfinite", "not": "logical_not", "bessel_i0e": "i0e",
     "bessel_i1e": "i1e"}  # fmt: skip
BINARY = {
    "sub": "sub", "mul": "mul", "div": "div", "pow": "pow", "atan2": "atan2", "rem": "fmod", "gt": "gt", "ge": "ge",
    "lt": "lt", "le": "le", "eq": "eq", "ne": "ne", "and": "logical_and", "or": "logical_or",
}  # fmt: skip


def _unary(fn: str) -> Any:
    return lambda call: call.entries(fn, [call.args[0]])


def _binary(fn: str) -> Any:
    return lambda call: call.entries(fn, list(call.args))


for _name, _fn in UNARY.items():
    lax(_name)(_unary(_fn))
for _name, _fn in BINARY.items():
    lax(_name)(_binary(_fn))


@lax("max", "min")
def extreme(call: Call) -> None:
    one, other = call.args
    if call.step.name == "max" and 0.0 in (number_of(one), number_of(other)):
        call.entries("relu", [other if number_of(one) == 0.0 else one])
        return
    call.entries("maximum" if call.step.name == "max" else "minimum", [one, other])


@lax("clamp")
def clamp(call: Call) -> None:
    low, x, high = call.args
    ends = number_of(low), number_of(high)
    if ends[0] is not None and ends[1] is not None:
        call.entries("clamp", [x], params=(ends[0], ends[1]))
        return
    (raised,) = call.entries("maximum", [x, low], [call.out.shape])
    call.entries("minimum", [raised, high])


@lax("integer_pow")
def integer_pow(call: Call) -> None:
    power = int(call["y"])
    if power == 2:
        call.entries("square", [call.args[0]])
    elif power == -1:
        call.entries("reciprocal", [call.args[0]])
    else:
        call.entries("pow", [call.args[0], float(power)])


@lax("cbrt")
def cube_root(call: Call) -> None:
    """sign(x) |x|^(1/3)."""
    shape = call.out.shape
    (size,) = call.entries("abs", [call.args[0]], [shape])
    (root,) = call.entries("pow", [size, 1.0 / 3.0], [shape])
    (sign,) = call.entries("sign", [call.args[0]], [shape])
    call.entries("mul", [root, sign])


@lax("add", "add_any")
def add(call: Call) -> None:
    call.entries("add", list(call.args))


@lax("convert_element_type", "reduce_precision")
def convert(call: Call) -> None:
    """Another type is the same signal; whole numbers of a signal are cut off."""
    x = call.args[0]
    if x.is_float and not call.out.is_float and call.out.dtype != np.bool_:
        call.entries("trunc", [x])
        return
    call.tracer.set(call.out, call.reference(x))


@lax("select_n")
def select(call: Call) -> None:
    chosen, *cases = call.args
    if len(cases) == 2:
        _where(call, chosen, cases[1], cases[0], [call.out])
        return
    made: Any = cases[-1]
    for k in reversed(range(len(cases) - 1)):
        (is_k,) = call.entries("eq", [chosen, float(k)], [call.out.shape])
        (made,) = call.entries("where", [is_k, cases[k], made], [call.out if k == 0 else call.out.shape])


def _where(call: Call, condition: Atom, yes: Atom, no: Atom, outputs: list[Any]) -> None:
    """By a known mask; by a function of data; very negative numbers mark what a softmax is not to see."""
    values = number_of(yes), number_of(no)
    dead = any(v is not None and v <= DEAD for v in values)
    if not condition.is_given and not dead:
        call.entries("where", [condition, yes, no], outputs)
        return
    if dead and values[0] is not None and values[0] <= DEAD:
        call.emit("masked_fill", [call.reference(no), call.tracer.narrow(condition)], outputs, value=DEAD)
        return
    parts = [_constant(number) if number is not None else call.tracer.narrow(item)
             for number, item in zip(values, (yes, no), strict=True)]  # fmt: skip
    shapes = [tuple(p.shape) for p in (*parts, call.tracer.narrow(condition)) if p is not None]
    mask = call.tracer.narrow(condition)
    if np.broadcast_shapes(*shapes) != call.out.shape:
        mask = call.reference(condition)
    call.emit("where", [mask, *parts], outputs)


def _constant(number: float) -> Constant:
    array = np.asarray(max(number, DEAD))
    return Constant((), lambda: array)
