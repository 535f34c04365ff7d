"""The elementwise functions themselves, vectorised and safe for large arguments.

Every function takes arrays (or scalars) and plain float parameters and returns an array. Outside its
domain a function gives NaN, as frameworks do. What one line of NumPy says stands in the table itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

Array = np.ndarray[Any, np.dtype[np.float64]]

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805
_SQRT_HALF = 0.7071067811865476
_GELU_TANH = 1.5957691216057308  # 2 * sqrt(2 / pi)


def number(test: Callable[..., Any]) -> Callable[..., Array]:
    """A comparison, or a logical function, as 0.0 or 1.0."""
    return lambda *args: np.asarray(test(*args), dtype=np.float64)


def relu(x: Array) -> Array:
    return np.maximum(x, 0.0)


def clamp(x: Array, low: float, high: float) -> Array:
    """`np.clip`, in half its time."""
    return np.minimum(np.maximum(x, low), high)


def leaky_relu(x: Array, slope: float) -> Array:
    return np.where(x > 0.0, x, slope * x)


def elu(x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    return scale * np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0) * input_scale))


def softshrink(x: Array, lambd: float) -> Array:
    return x - clamp(x, -lambd, lambd)


def softplus(x: Array, beta: float, limit: float) -> Array:
    """log(1 + exp(beta x)) / beta, and x itself where beta x exceeds the limit."""
    scaled = beta * np.asarray(x)
    return np.where(scaled > limit, x, -special.log_expit(-scaled) / beta)


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


def hardsigmoid(x: Array) -> Array:
    return clamp(x / 6.0 + 0.5, 0.0, 1.0)


def tanhshrink(x: Array) -> Array:
    """x - tanh x, by its series where the difference would cancel."""
    x = np.asarray(x, dtype=np.float64)
    s = np.square(np.minimum(np.abs(x), 0.1))
    series = x * s * (1 / 3 - s * (2 / 15 - s * (17 / 315 - s * (62 / 2835 - s * (1382 / 155925)))))
    return np.where(np.abs(x) < 0.1, series, x - np.tanh(x))


def softsign(x: Array) -> Array:
    size = np.minimum(np.abs(x), 1e300)  # 1 at infinity
    return np.asarray(np.copysign(size / (1.0 + size), x))


def squareplus(x: Array, b: float) -> Array:
    """(x + sqrt(x² + b)) / 2, without cancellation for negative x."""
    root = np.hypot(x, np.sqrt(b))
    return np.where(np.asarray(x) > 0.0, 0.5 * (x + root), 0.5 * b / (root + np.abs(x)))


def identity(x: Array) -> Array:
    return x


def logit(x: Array, eps: float) -> Array:
    """log(x / (1 - x)); a non-negative eps clamps x to [eps, 1 - eps] first, a negative one does nothing."""
    return np.asarray(special.logit(clamp(x, eps, 1.0 - eps) if eps >= 0.0 else x))
