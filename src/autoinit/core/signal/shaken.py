"""Functions of a signal whose local variances scatter (`volatility`): their means, moments and own scatter.

With r the local variance and E[f | r] ~ r^b, E[f^2 | r] ~ r^a near the working point, a log-normal r of relative
covariance V gives the moments of f by powers of 1 + V.
"""

from __future__ import annotations

from math import isfinite

import numpy as np

from ..gaussian.expression import Expr
from ..gaussian.integrals import analyse
from ..gaussian.ranges import bounded as in_range
from .profiles import Array

TRUSTED = 1.0
"""The power laws in r hold for moderate scatter: beyond this V, moments are not shifted any further."""
LARGEST = 30.0
"""V beyond this says nothing any more: the scatter is a factor of six either way."""


def sound_volatility(V: Array | None) -> Array | None:
    """V(0) = Var r / E[r]² is not negative, -V(S) not larger than it (Cauchy-Schwarz), and 1 + V(S) positive."""
    if V is None or not isfinite(V.sum()):
        return None
    lowest = -min(max(float(V.flat[0]), 0.0), 0.9)
    return np.asarray(np.minimum(np.maximum(V, lowest), LARGEST))


def bounded(V: Array) -> Array:
    return np.clip(V, -0.9, LARGEST)


def function_volatility(V: Array, slope: float) -> Array:
    """V of f(x) with E[f^2] ~ r^slope: (1 + V)^(slope^2) - 1."""
    slope = float(np.clip(slope, 0.0, 3.0))
    return bounded((1.0 + V) ** (slope * slope) - 1.0)


def function_moments(expr: Expr, mean: float, variance: float, at: float, K: Array, V: Array) -> tuple[float, Array]:
    """Mean and K of f(x) under volatility V, where E f = `at` without it."""
    power = _mean_power(expr, mean, variance, at)
    if abs(power) > 1e-3 and in_range(expr):
        return _mixed(expr, mean, variance, at, K, V)
    return moments_shifted(at, K, V, power)


def _mean_power(expr: Expr, mean: float, variance: float, at: float) -> float:
    """d log E[f] / d log(variance); 0 where the mean vanishes."""
    step = 0.02
    if abs(at) < 1e-9:
        return 0.0
    moved = float(analyse(expr, mean, max(variance, 0.0) * (1 + step)).mean)
    return (moved / at - 1.0) / step


def _mixed(expr: Expr, mean: float, variance: float, at: float, K: Array, V: Array) -> tuple[float, Array]:
    """For a bounded function, no power law: E f over three points of log r = -s/2 + sqrt(s) g, s = log(1 + V(0)).

    With c_j the Hermite coefficients of E[f | g], E[f f'] gains c_1² q + c_2² q² with q(S) = log(1 + V(S)) / s.
    """
    V = np.clip(V, -0.9, TRUSTED)
    s = float(np.log1p(V.flat[0]))
    if s <= 1e-6:
        return at, K
    g = np.array([-np.sqrt(3.0), 0.0, np.sqrt(3.0)])
    weights = np.array([1.0, 4.0, 1.0]) / 6.0
    r = np.exp(-s / 2 + np.sqrt(s) * g)
    means = np.array([float(analyse(expr, mean, max(variance, 0.0) * float(part)).mean) for part in r])
    first = float(weights @ means)
    linear, curved = float(weights @ (g * means)), float(weights @ ((g * g - 1.0) * means)) / np.sqrt(2.0)
    q = np.clip(np.log1p(V) / s, -1.0, 1.0)
    return first, K + (first * first - at * at) + linear**2 * q + curved**2 * q * q


def moments_shifted(mean: float, K: Array, V: Array, mean_power: float) -> tuple[float, Array]:
    """Mean and K of f(x) under volatility V (see the module's text)."""
    b = float(np.clip(mean_power, -3.0, 3.0))
    V = np.clip(V, -0.9, TRUSTED)
    base = 1.0 + float(V.flat[0])
    shift = mean * mean * (base ** (b * (b - 1)) * (1.0 + V) ** (b * b) - 1.0)
    return mean * base ** (b * (b - 1) / 2), K + shift
