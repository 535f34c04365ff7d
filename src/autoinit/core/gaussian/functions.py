"""The elementwise functions themselves, vectorised and safe for large arguments.

Every function takes arrays (or scalars) and plain float parameters and returns an array. Comparisons
and logical functions return 0.0 or 1.0. Outside its domain a function gives NaN, as frameworks do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

Array = np.ndarray[Any, np.dtype[np.float64]]

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
_SQRT_HALF = 0.7071067811865476
_GELU_TANH = 1.5957691216057308  # 2 * sqrt(2 / pi)


def _float(condition: Any) -> Array:
    return np.asarray(condition, dtype=np.float64)


# --- rectifiers ------------------------------------------------------------------------------------


def relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def clamp(x: Array, low: float, high: float) -> Array:
    return np.minimum(np.maximum(x, low), high)


def leaky_relu(x: Array, slope: float) -> Array:
    return np.where(x > 0.0, x, slope * x)


def rrelu(x: Array, lower: float, upper: float) -> Array:
    """Randomised leaky ReLU as it is in evaluation mode: the mean slope."""
    return leaky_relu(x, 0.5 * (lower + upper))


def elu(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    return scale * np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0) * input_scale))


def celu(x: Array, alpha: float) -> Array:
    return elu(x, alpha, 1.0, 1.0 / alpha)


def threshold(x: Array, level: float, value: float) -> Array:
    return np.where(x > level, x, value)


def softshrink(x: Array, lambd: float) -> Array:
    return x - clamp(x, -lambd, lambd)


def hardshrink(x: Array, lambd: float) -> Array:
    return np.where(np.abs(x) > lambd, x, 0.0)


# --- smooth gates ----------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    return np.asarray(special.expit(x))


def log_sigmoid(x: Array) -> Array:
    return np.asarray(special.log_expit(x))


def softplus(x: Array, beta: float, limit: float) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where beta x exceeds the limit."""
    scaled = beta * np.asarray(x)
    return np.where(scaled > limit, x, -special.log_expit(-scaled) / beta)


def silu(x: Array) -> Array:
    return np.asarray(x * special.expit(x))


def mish(x: Array) -> Array:
    """x tanh(log(1 + e^x)) = x (w² + 2w) / (w² + 2w + 2) with w = e^x, written in e^-|x|."""
    small = np.exp(-np.abs(x))
    positive = np.asarray(x) > 0.0
    top = np.where(positive, 1.0 + 2.0 * small, small * (small + 2.0))
    bottom = np.where(positive, top + 2.0 * small * small, top + 2.0)
    return np.asarray(x * (top / bottom))


def gelu(x: Array) -> Array:
    return np.asarray(0.5 * x * special.erfc(-_SQRT_HALF * np.asarray(x)))


def gelu_tanh(x: Array) -> Array:
    """0.5 x (1 + tanh(sqrt(2/pi)(x + 0.044715 x³))), written as x * sigmoid to keep the lower tail exact."""
    inner = x * (1.0 + 0.044715 * np.square(np.minimum(np.abs(x), 1e3)))
    return np.asarray(x * special.expit(_GELU_TANH * inner))


def quick_gelu(x: Array) -> Array:
    return np.asarray(x * special.expit(1.702 * np.asarray(x)))


def hardsigmoid(x: Array) -> Array:
    return clamp(x / 6.0 + 0.5, 0.0, 1.0)


def hardswish(x: Array) -> Array:
    return np.asarray(x * hardsigmoid(x))


def tanhshrink(x: Array) -> Array:
    """x - tanh x, by its series where the difference would cancel."""
    x = np.asarray(x, dtype=np.float64)
    s = np.square(np.minimum(np.abs(x), 0.1))
    series = x * s * (1 / 3 - s * (2 / 15 - s * (17 / 315 - s * (62 / 2835 - s * (1382 / 155925)))))
    return np.where(np.abs(x) < 0.1, series, x - np.tanh(x))


def softsign(x: Array) -> Array:
    return np.asarray(x / (1.0 + np.abs(x)))


def squareplus(x: Array, b: float) -> Array:
    """(x + sqrt(x² + b)) / 2, without cancellation for negative x."""
    root = np.hypot(x, np.sqrt(b))
    return np.where(np.asarray(x) > 0.0, 0.5 * (x + root), 0.5 * b / (root + np.abs(x)))


# --- the rest of the unary vocabulary --------------------------------------------------------------


def identity(x: Array) -> Array:
    return x


def affine(x: Array, factor: float, offset: float) -> Array:
    return factor * x + offset


def power(x: Array, exponent: float) -> Array:
    return np.asarray(np.power(x, exponent))


def sqrt(x: Array) -> Array:
    return np.asarray(np.sqrt(x))


def rsqrt(x: Array) -> Array:
    return np.asarray(1.0 / np.sqrt(x))


def reciprocal(x: Array) -> Array:
    return np.asarray(1.0 / np.asarray(x, dtype=np.float64))


def frac(x: Array) -> Array:
    return np.asarray(x - np.trunc(x))


def logit(x: Array, eps: float) -> Array:
    """log(x / (1 - x)); a non-negative eps clamps x to [eps, 1 - eps] first, a negative one does nothing."""
    return np.asarray(special.logit(clamp(x, eps, 1.0 - eps) if eps >= 0.0 else x))


def zero(x: Array) -> Array:
    return np.zeros_like(x, dtype=np.float64)


def one(x: Array) -> Array:
    return np.ones_like(x, dtype=np.float64)


def logical_not(x: Array) -> Array:
    return _float(np.asarray(x) == 0.0)


def signbit(x: Array) -> Array:
    return _float(np.signbit(x))


def nan_to_num(x: Array) -> Array:
    return np.asarray(np.nan_to_num(x))


# --- of two or three arguments ---------------------------------------------------------------------


def div(x: Array, y: Array) -> Array:
    return np.asarray(np.true_divide(x, y))


def squared_difference(x: Array, y: Array) -> Array:
    return np.square(x - y)


def greater(x: Array, y: Array | float) -> Array:
    return _float(np.asarray(x) > y)


def greater_equal(x: Array, y: Array | float) -> Array:
    return _float(np.asarray(x) >= y)


def less(x: Array, y: Array | float) -> Array:
    return _float(np.asarray(x) < y)


def less_equal(x: Array, y: Array | float) -> Array:
    return _float(np.asarray(x) <= y)


def equal(x: Array, y: Array | float) -> Array:
    return _float(np.asarray(x) == y)


def not_equal(x: Array, y: Array | float) -> Array:
    return _float(np.asarray(x) != y)


def logical_and(x: Array, y: Array) -> Array:
    return _float(np.logical_and(x, y))


def logical_or(x: Array, y: Array) -> Array:
    return _float(np.logical_or(x, y))


def logical_xor(x: Array, y: Array) -> Array:
    return _float(np.logical_xor(x, y))


def where(condition: Array, x: Array, y: Array) -> Array:
    return np.where(np.asarray(condition) != 0.0, x, y)


def lerp(start: Array, end: Array, weight: Array) -> Array:
    return start + weight * (end - start)


def addcmul(x: Array, y: Array, z: Array) -> Array:
    return x + y * z
