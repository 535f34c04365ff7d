"""The range of an elementwise expression, by interval arithmetic, and moments that stay inside it.

A function with values in [l, h] has l <= E f <= h, and E[(f - l)(h - f)] >= 0, hence E f² <= (l + h) E f - l h. Any
two entries of one law have |Cov(f, f')| <= Var f. Corrections that know a law only near its working point (power laws
in the local variance, for example) can leave these bounds: what comes out is moved to the nearest moments that exist.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .activations import EVERYTHING, FUNCTIONS, Range
from .expression import Expr, X, is_constant, nodes_below
from .functions import Array, clamp


@lru_cache(maxsize=4096)
def bounds(expr: Expr) -> Range:
    """An interval that holds every value of the expression (the whole line, where nothing is known)."""
    found: dict[int, Range] = {}
    for node in nodes_below(expr):
        found[node.key] = _of_node(node, [found[arg.key] for arg in node.args])
    return found[expr.key]


def _of_node(node: Expr, args: list[Range]) -> Range:
    if node is X:
        return EVERYTHING
    if is_constant(node):
        return (node.params[0],) * 2 if math.isfinite(node.params[0]) else EVERYTHING
    if FUNCTIONS[node.name].within != EVERYTHING:
        return FUNCTIONS[node.name].within
    if len(args) == 1:
        return _image(node, *args[0])
    if node.name in ("add", "sub", "mul"):
        return _arithmetic(node.name, *args)
    if node.name in ("maximum", "minimum"):
        best = max if node.name == "maximum" else min
        return best(args[0][0], args[1][0]), best(args[0][1], args[1][1])
    if node.name == "where":
        return min(args[1][0], args[2][0]), max(args[1][1], args[2][1])
    return EVERYTHING


def _image(node: Expr, low: float, high: float) -> Range:
    """The image of an interval under a function that never falls, or never rises."""
    if node.name == "affine":
        return _ordered(*(_times(node.params[0], end) + node.params[1] for end in (low, high)))
    function = FUNCTIONS[node.name]
    if not function.monotone_for(node.params):
        return EVERYTHING
    with np.errstate(all="ignore"):
        ends = [float(function.fn(np.float64(end), *node.params)) for end in (low, high)]
    return _ordered(*ends)


def _arithmetic(name: str, a: Range, b: Range) -> Range:
    if name == "add":
        return _ordered(a[0] + b[0], a[1] + b[1])
    if name == "sub":
        return _ordered(a[0] - b[1], a[1] - b[0])
    return _ordered(*(_times(x, y) for x in a for y in b))


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def _ordered(*ends: float) -> Range:
    if any(math.isnan(end) for end in ends):
        return EVERYTHING
    return min(ends), max(ends)


def bounded(expr: Expr) -> bool:
    low, high = bounds(expr)
    return math.isfinite(low) and math.isfinite(high)


def inside(expr: Expr, mean: float, K: Array) -> tuple[float, Array]:
    """The nearest mean and K that a function with this range can have."""
    low, high = bounds(expr)
    mean = min(max(mean, low), high)
    second = float(K.flat[0])
    if math.isfinite(low) and math.isfinite(high):
        second = min(second, (low + high) * mean - low * high)
    second = max(second, mean * mean)
    made = clamp(K, 2.0 * mean * mean - second, second)
    made.flat[0] = second
    return mean, made
