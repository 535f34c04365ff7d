"""Elementwise chains of one source variable, as hash-consed expressions.

`x * sigmoid(x)` is one function of x, and has to be integrated as one. An expression is built once per
structure: equal expressions are the same object, so a cache can use their small integer `key`.
"""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from typing import Any

import numpy as np

from .activations import FUNCTIONS
from .functions import Array

_SOURCE, _CONSTANT = "x", "constant"
_KEEP_PROGRAM = 256

Program = list[tuple[str, tuple[int, ...], tuple[float, ...]]]
"""For each node, arguments first: its name, the places of its arguments in this list, its parameters."""


class Expr:
    """An immutable node. Make one with `X`, `constant` and `apply` only.

    line: (a, b) if the expression is exactly a X + b (a constant is 0 X + b), else None.
    monotone: +1 if it never falls with X, -1 if it never rises, 0 if neither is known.
    """

    __slots__ = ("__weakref__", "args", "depth", "key", "line", "monotone", "name", "params", "program")

    name: str
    args: tuple[Expr, ...]
    params: tuple[float, ...]
    key: int
    depth: int
    monotone: int
    line: tuple[float, float] | None
    program: Program | None

    def __repr__(self) -> str:
        if self.depth > 20:
            return f"<Expr {self.key}: {self.name}, depth {self.depth}>"
        if self.name == _SOURCE:
            return "x"
        if self.name == _CONSTANT:
            return f"{self.params[0]:g}"
        inner = [repr(arg) for arg in self.args] + [f"{p:g}" for p in self.params]
        return f"{self.name}({', '.join(inner)})"

    def __reduce__(self) -> Any:
        return _rebuild, (_program(self),)


_interned: weakref.WeakValueDictionary[tuple[Any, ...], Expr] = weakref.WeakValueDictionary()
_next_key = itertools.count()
_lock = threading.RLock()


def _intern(name: str, args: tuple[Expr, ...], params: tuple[float, ...]) -> Expr:
    identity = (name, tuple(arg.key for arg in args), tuple(p.hex() for p in params))
    with _lock:
        found = _interned.get(identity)
        if found is not None:
            return found
        made = Expr()
        made.name, made.args, made.params = name, args, params
        made.key = next(_next_key)
        made.depth = 1 + max((arg.depth for arg in args), default=-1)
        made.program = None
        made.line, made.monotone = _line_of(name, args, params), _monotone_of(name, args, params)
        _interned[identity] = made
        return made


def _line_of(name: str, args: tuple[Expr, ...], params: tuple[float, ...]) -> tuple[float, float] | None:
    if name == _SOURCE:
        return 1.0, 0.0
    if name == _CONSTANT:
        return 0.0, params[0]
    if name == "affine" and args[0].line is not None:
        factor, offset = args[0].line
        return params[0] * factor, params[0] * offset + params[1]
    return None


def _monotone_of(name: str, args: tuple[Expr, ...], params: tuple[float, ...]) -> int:
    if name == _SOURCE:
        return 1
    if name == _CONSTANT:
        return 0
    if len(args) == 1:
        return FUNCTIONS[name].monotone_for(params) * args[0].monotone
    signs = {arg.monotone for arg in args if arg.name != _CONSTANT}
    if name in ("add", "maximum", "minimum", "logaddexp", "logaddexp2") and len(signs) == 1:
        return signs.pop()
    if name == "sub" and args[0].monotone == -args[1].monotone:
        return args[0].monotone
    return 0


X: Expr = _intern(_SOURCE, (), ())


def constant(value: float) -> Expr:
    return _intern(_CONSTANT, (), (float(value),))


def is_constant(expr: Expr) -> bool:
    return expr.name == _CONSTANT


def apply(name: str, *args: Expr | float, params: tuple[float, ...] = ()) -> Expr:
    """The expression of a table function, lightly simplified.

    Constants are folded, lines of lines become one line, and a two-argument function of a constant
    becomes the one-argument function that has a closed form (maximum(x, 0) is relu).
    """
    function = FUNCTIONS.get(name)
    if function is None:
        raise KeyError(f"no elementwise function named {name!r} is registered")
    if len(args) != function.arity:
        raise ValueError(f"{name} takes {function.arity} arguments, received {len(args)}")
    full = function.with_defaults(tuple(params))
    nodes = tuple(arg if isinstance(arg, Expr) else constant(arg) for arg in args)
    if all(map(is_constant, nodes)):
        with np.errstate(all="ignore"):
            value = function.fn(*(np.float64(node.params[0]) for node in nodes), *full)
        return constant(float(value))
    simpler = _simplify(name, nodes, full)
    return simpler if simpler is not None else _intern(name, nodes, full)


def line(expr: Expr, factor: float, offset: float) -> Expr:
    """factor * expr + offset, folded into a line that is already there."""
    if is_constant(expr):
        return constant(factor * expr.params[0] + offset)
    if expr.name == "affine":
        factor, offset = factor * expr.params[0], factor * expr.params[1] + offset
        expr = expr.args[0]
    if factor == 0.0 and math.isfinite(offset):
        return constant(offset)
    if factor == 1.0 and offset == 0.0:
        return expr
    return _intern("affine", (expr,), (factor + 0.0, offset + 0.0))


def split(expr: Expr) -> tuple[Expr, float, float]:
    """expr as factor * core + offset."""
    if expr.name == "affine":
        return expr.args[0], expr.params[0], expr.params[1]
    return expr, 1.0, 0.0


_POWERS = {1.0: "identity", 2.0: "square", 0.5: "sqrt", -1.0: "reciprocal", -0.5: "rsqrt"}
_FLIPPED = {"gt": "lt", "ge": "le", "lt": "gt", "le": "ge", "eq": "eq", "ne": "ne"}


def _simplify(name: str, nodes: tuple[Expr, ...], params: tuple[float, ...]) -> Expr | None:
    if len(nodes) == 1:
        return _simplify_unary(name, nodes[0], params)
    if len(nodes) == 2:
        left, right = nodes
        if is_constant(right):
            return _simplify_right(name, left, right.params[0])
        if is_constant(left):
            return _simplify_left(name, left.params[0], right)
        return _simplify_same(name, left, right)
    if name == "where" and is_constant(nodes[0]):
        return nodes[1] if nodes[0].params[0] else nodes[2]
    if name == "lerp":
        start, end, weight = nodes
        return apply("add", start, apply("mul", weight, apply("sub", end, start)))
    if name == "addcmul":
        return apply("add", nodes[0], apply("mul", nodes[1], nodes[2]))
    return None


def _simplify_unary(name: str, node: Expr, params: tuple[float, ...]) -> Expr | None:
    if name in ("identity", "nan_to_num"):
        return node
    if name == "neg":
        return line(node, -1.0, 0.0)
    if name == "affine":
        return line(node, *params)
    if name == "clamp" and params == (-math.inf, math.inf):
        return node
    if name in ("clamp", "hardtanh") and params == (0.0, math.inf):
        return apply("relu", node)
    if name == "relu" and node.name in ("relu", "relu6", "abs", "square", "sigmoid", "exp", "sqrt", "hardsigmoid"):
        return node
    return node if name == node.name == "abs" else None


def _simplify_right(name: str, x: Expr, c: float) -> Expr | None:
    """x (op) c."""
    if name == "add":
        return line(x, 1.0, c)
    if name == "sub":
        return line(x, 1.0, -c)
    if name == "mul":
        return line(x, c, 0.0)
    if name == "div" and c != 0.0:
        return line(x, 1.0 / c, 0.0)
    if name == "maximum":
        return apply("clamp", x, params=(c, math.inf))
    if name == "minimum":
        return apply("clamp", x, params=(-math.inf, c))
    if name == "squared_difference":
        return apply("square", line(x, 1.0, -c))
    if name in _FLIPPED:
        return apply(f"{name}_scalar", x, params=(c,))
    if name == "pow":
        if c == 0.0:
            return constant(1.0)
        known = _POWERS.get(c)
        return apply(known, x) if known else apply("power_scalar", x, params=(c,))
    return None


def _simplify_left(name: str, c: float, x: Expr) -> Expr | None:
    """c (op) x."""
    if name in ("add", "mul", "maximum", "minimum", "squared_difference"):
        return _simplify_right(name, x, c)
    if name == "sub":
        return line(x, -1.0, c)
    if name == "div":
        return line(apply("reciprocal", x), c, 0.0)
    if name in _FLIPPED:
        return apply(f"{_FLIPPED[name]}_scalar", x, params=(c,))
    if name == "pow" and c == math.e:
        return apply("exp", x)
    if name == "pow" and c > 0.0:
        return apply("exp", line(x, math.log(c), 0.0))
    return None


def _simplify_same(name: str, left: Expr, right: Expr) -> Expr | None:
    """Both sides are lines of the same thing, or x stands over 1 + |x|."""
    if name == "div":
        return _softsign(left, right)
    core, a, b = split(left)
    other, c, d = split(right)
    if core is not other:
        return None
    if name == "add":
        return line(core, a + c, b + d)
    if name == "sub":
        return line(core, a - c, b - d)
    if left is right:
        if name == "mul":
            return apply("square", left)
        if name in ("maximum", "minimum"):
            return left
        if name in ("squared_difference", "gt", "lt", "ne"):
            return constant(0.0)
    return None


def _softsign(x: Expr, divisor: Expr) -> Expr | None:
    """x / (a |r x| + b) = softsign(k x) / |a r| with k = |a r| / b, where a and b are positive."""
    magnitude, a, b = split(divisor)
    if magnitude.name != "abs" or not (a > 0.0 and b > 0.0):
        return None
    core, factor, offset = split(x)
    other, r, shift = split(magnitude.args[0])
    if core is not other or r * offset != factor * shift:
        return None
    slope = a * abs(r / factor)
    if not (0.0 < slope < math.inf and 0.0 < slope / b < math.inf):
        return None
    return line(apply("softsign", line(x, slope / b, 0.0)), 1.0 / slope, 0.0)


def nodes_below(expr: Expr) -> list[Expr]:
    """Every node of the expression once, arguments before their users, without recursion."""
    seen: set[int] = set()
    ordered: list[Expr] = []
    stack: list[tuple[Expr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            ordered.append(node)
        elif node.key not in seen:
            seen.add(node.key)
            stack.append((node, True))
            stack.extend((arg, False) for arg in node.args if arg.key not in seen)
    return ordered


def evaluate(expr: Expr, x: Array) -> Array:
    """The value of the expression at every entry of x."""
    x = np.asarray(x, dtype=np.float64)
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for name, args, params in _program(expr):
            if args:
                values.append(FUNCTIONS[name].fn(*[values[arg] for arg in args], *params))
            else:
                values.append(x if name == _SOURCE else np.float64(params[0]))
    result = np.asarray(values[-1], dtype=np.float64)
    return result if result.shape == x.shape else np.broadcast_to(result, x.shape).copy()


def _program(expr: Expr) -> Program:
    if expr.program is not None:
        return expr.program
    ordered = nodes_below(expr)
    place = {node.key: i for i, node in enumerate(ordered)}
    program = [(node.name, tuple(place[arg.key] for arg in node.args), node.params) for node in ordered]
    if len(program) <= _KEEP_PROGRAM:
        expr.program = program
    return program


def _rebuild(program: Program) -> Expr:
    made: list[Expr] = []
    for name, args, params in program:
        made.append(_intern(name, tuple(made[i] for i in args), params))
    return made[-1]
