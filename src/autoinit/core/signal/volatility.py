"""Volatility: how local variances scatter and move together.

Given everything before a contraction, its output is Gaussian with variance proportional to r = |x|^2/n at that place.
r is not constant: it scatters by finite width, by gates, and with the sample that is being processed. A signal carries

    V(S) = E[r r'] / E[r]^2 - 1

for two places that differ on S (None: no scatter known). r is taken as log-normal, so its powers are closed forms:
with E[f] ~ r^b and E[f^2] ~ r^a near the working point,

    E[f f'] gains  m^2 ((1+V(0))^(b(b-1)) (1+V(S))^(b^2) - 1),

and the volatility of f is (1+V)^(a^2) - 1. (E[f^2] would gain a factor (1+V(0))^(a(a-1)/2). It is left out on
purpose: where a > 1 that mean is made by rare draws, and weights solved for it would let the typical draw vanish.)
A contraction over a fan n averages the squares of n entries,

    1 + V'(S) = (1 + V(S)) (1 + Q(S)/n),     Q(S) = E[x^2 x'^2]/E[x^2]^2 - 1 for the same feature and given r

(V of two features, which is nearly that of one). For a stack of fully correlated ReLU layers this is the known 5/n
per layer in log r. Two places of one output feature also share the row of weights w: E[y^2 y'^2] has 2 E[rho^2] with
rho = x.x'/n, of which K knows only the mean. rho scatters by 1/(effective width) (the weights before gave the features
of x a covariance with few directions), so V'(S) of the same feature gains 2 (1 - rho(S)^2)/(effective width).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, isfinite, log1p, log10, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ..gaussian.expression import Expr, apply
from ..gaussian.functions import clamp
from ..gaussian.integrals import analyse
from ..gaussian.ranges import bounded as in_range
from . import axes as K_axes
from .profiles import Array

if TYPE_CHECKING:
    from .signal import Signal

TRUSTED = 1.0
"""The power laws in r hold for moderate scatter: beyond this V, moments are not shifted any further."""
OF_ONE = 2.0
"""V of the square of one Gaussian entry, the most that a contraction has of its own."""
LARGEST = 30.0
"""V beyond this says nothing any more: the scatter is a factor of six either way."""


def sound_volatility(V: Array | None) -> Array | None:
    """V(0) = Var r / E[r]² is not negative, -V(S) not larger than it (Cauchy-Schwarz), and 1 + V(S) positive."""
    if V is None:
        return None
    return clamp(V, -min(max(float(V.flat[0]), 0.0), 0.9), LARGEST) if isfinite(V.sum()) else None


def bounded(V: Array) -> Array:
    return clamp(V, -0.9, LARGEST)


def function_volatility(V: Array, slope: float) -> Array:
    """V of f(x) with E[f^2] ~ r^slope: (1 + V)^(slope^2) - 1."""
    slope = min(max(slope, 0.0), 3.0)
    return bounded((1.0 + V) ** (slope * slope) - 1.0)


def function_moments(
    expr: Expr, mean: float, variance: float, moments: tuple[float, float], K: Array, V: Array
) -> tuple[float, float, Array]:
    """E f, E f^2 and K of f(x) under volatility V; `moments`: E f and E f^2 without it."""
    if in_range(expr):
        return _mixed(expr, mean, variance, moments, K, V)
    power = _mean_power(expr, mean, variance, moments[0])
    first, K = moments_shifted(moments[0], K, V, power)
    return first, moments[1], K


def _mean_power(expr: Expr, mean: float, variance: float, at: float) -> float:
    """d log E[f] / d log(variance); 0 where the mean vanishes."""
    step = 0.02
    if abs(at) < 1e-9:
        return 0.0
    moved = float(analyse(expr, mean, max(variance, 0.0) * (1 + step)).mean)
    return (moved / at - 1.0) / step


def _mixed(
    expr: Expr, mean: float, variance: float, moments: tuple[float, float], K: Array, V: Array
) -> tuple[float, float, Array]:
    """For a bounded function, no power law: E f over three points of log r = -s/2 + sqrt(s) g, s = log(1 + V(0)).

    With c_j the Hermite coefficients of E[f | g], E[f f'] gains c_1² q + c_2² q² with q(S) = log(1 + V(S)) / s, and
    what is left of the covariances counts as much as what is left of the variance. No rare draw makes these means.
    """
    at, own = moments
    V = clamp(V, -0.9, OF_ONE)
    s = float(np.log1p(V.flat[0]))
    if s <= 1e-6:
        return at, own, K
    laws = [analyse(expr, mean, max(variance, 0.0) * float(part)) for part in np.exp(-s / 2 + np.sqrt(s) * _G)]
    first, linear, curved = (float(c) for c in _COEFFICIENTS @ [float(law.mean) for law in laws])
    second = float(_COEFFICIENTS[0] @ [float(law.second) for law in laws])
    q = clamp(np.log1p(V) / s, -1.0, 1.0)
    left = (second - first * first - linear**2 - curved**2) / max(own - at * at, 1e-300)
    K = first * first + (K - at * at) * min(max(left, 0.0), 1.0) + linear**2 * q + curved**2 * q * q
    return first, second, K


_G = np.array([-np.sqrt(3.0), 0.0, np.sqrt(3.0)])
_COEFFICIENTS = np.array([np.ones(3), _G, (_G * _G - 1.0) / np.sqrt(2.0)]) * np.array([1.0, 4.0, 1.0]) / 6.0


def moments_shifted(mean: float, K: Array, V: Array, mean_power: float) -> tuple[float, Array]:
    """Mean and K of f(x) under volatility V, where E f ~ r^mean_power."""
    b = min(max(mean_power, -3.0), 3.0)
    V = clamp(V, -0.9, TRUSTED)
    base = 1.0 + float(V.flat[0])
    shift = mean * mean * (base ** (b * (b - 1)) * (1.0 + V) ** (b * b) - 1.0)
    return mean * base ** (b * (b - 1) / 2), K + shift


def square_covariance(x: Signal) -> Array:
    """Q(S): relative covariance of the squares of two entries, without the volatility.

    For a Gaussian with mean m and covariance c it is (4 m^2 c + 2 c^2)/K(0)^2; for a function of one it is integrated
    at a working point rounded to two digits (it only enters a correction), so that it is nearly always remembered.
    """
    if x.expr.line is not None or x.source.K.shape != x.K.shape:
        level = max(x.second, 1e-300)
        c = clamp(x.covariance / level, -1.0, 1.0)
        return np.asarray(4 * min(x.mean**2 / level, 1.0) * c + 2 * c * c)
    source = x.source
    variance = source.variance
    if variance <= 0:
        return np.zeros(x.K.shape)
    rounded = _two_digits(variance)
    mean = _two_digits(source.mean)
    squared = analyse(apply("square", x.expr), mean, rounded)
    if squared.problem or squared.mean <= 0:
        return np.zeros(x.K.shape)
    pairs = np.asarray(squared.pair((source.covariance / variance * rounded).ravel()), float).reshape(x.K.shape)
    Q = pairs / squared.mean / squared.mean - 1.0
    Q.flat[0] = squared.second / squared.mean / squared.mean - 1.0
    return clamp(Q, -1.0, LARGEST)


def _two_digits(value: float) -> float:
    if value == 0.0:
        return 0.0
    return round(value, 1 - floor(log10(abs(value))))


def contracted(
    x: Signal,
    axis: int,
    features: float,
    shared: float = 1.0,
    taps: Mapping[int, float] | None = None,
    fixed_norm: bool = False,
    over_windows: bool = False,
) -> Array:
    """V of a contraction of x over `features` entries of `axis`; the output feature takes the place of that axis.

    `shared` is the chance that two different output features read the same inputs (1/groups). A convolution also
    averages over `taps` places of some axes; squares at different places count as far as they are correlated.
    `fixed_norm`: every row of weights has the same length (standardised weights), which takes its 1/fan off.
    `over_windows`: the local variances of the taps are averaged, too. Plans leave that out (their standard deviations
    are published); gradients are divided by norms over many places, which feel it.
    """
    Q = square_covariance(x)
    Q = _over_window(Q, taps or {})
    features = max(features, 1.0)
    own = K_axes.same(Q, axis) / features
    other, V = own * shared, x.volatility
    if V is not None:
        V = _over_window(V, taps or {}) if over_windows else V
        common = K_axes.different(V, axis) * (1.0 - 1.0 / features)
        local = K_axes.same(V, axis)
        own = own * (1.0 + local) + local / features
        own, other = common + own, common + own * shared
    rows = _same_row(x, axis, 0.0 if fixed_norm else 1.0 / features) * over_taps(x, taps or {})
    return bounded(K_axes.of_both(own + rows, other, axis))


def _over_window(Q: Array, taps: Mapping[int, float]) -> Array:
    """At one place, the mean over k taps of each axis; different places are as unlike as before."""
    for place, k in taps.items():
        same, different = K_axes.same(Q, place), K_axes.different(Q, place)
        Q = K_axes.of_both(same / max(k, 1.0) + different * (1.0 - 1.0 / max(k, 1.0)), different, place)
    return Q


def _same_row(x: Signal, axis: int, inverse_features: float) -> Array:
    """2 Var(rho) of two places that one row of weights reads: 2 (1 - rho^2)/(effective width)."""
    rho = clamp(K_axes.same(x.K, axis) / max(x.second, 1e-300), -1.0, 1.0)  # rounding may leave K(S) alone
    return np.asarray(2.0 * np.maximum(1.0 - rho * rho, 0.0) * (inverse_features + x.deficiency))


def over_taps(x: Signal, taps: Mapping[int, float]) -> float:
    """What k taps leave of 1/(effective width): tr(R^2)/k^2 = 1/k + (1 - 1/k) rho^2 for places of correlation rho."""
    factor = 1.0
    for axis, k in taps.items():
        if k > 1.0:
            factor *= 1.0 / k + (1.0 - 1.0 / k) * x.correlation(axis) ** 2
    return factor


def pair_volatility(q: Signal, k: Signal) -> Array:
    """V of the products q.k over the last axis, (..., rows of q, rows of k): as each other's weights, both count.

    The entries of one row have in common how long that row of q is, by 2/(features); those of one column the same of k.
    """
    n = q.shape[-1]
    rows = contracted(q, q.ndim - 1, n)
    columns = np.moveaxis(contracted(k, k.ndim - 1, n), -1, -2)
    alike = [
        K_axes.of_both(same, same, axis)
        for axis, same in (
            (q.ndim - 1, K_axes.same(rows, q.ndim - 1)),
            (k.ndim - 2, K_axes.same(columns, k.ndim - 2)),
        )
    ]
    return bounded((1.0 + alike[0]) * (1.0 + alike[1]) - 1.0)


def summed(parts: list[tuple[float, Signal]]) -> Array | None:
    """V of a sum, by shares of the variance: branches of one network inherit the scatter of what they share."""
    known = [(share, s.volatility) for share, s in parts if s.volatility is not None]
    if not known:
        return None
    total = np.zeros(known[0][1].shape)
    for share, V in known:
        total = total + share * share * V
    if len(known) == 2:
        (a, V), (b, W) = known
        total = total + 2 * a * b * np.maximum(np.minimum(V, W), 0.0)
    return total


def scatter(x: Signal) -> float:
    """Standard deviation of the log of the variance measured over the whole tensor, from draw to draw."""
    if x.second <= 0 or 0 in x.shape:
        return 0.0
    c = clamp(x.covariance / x.second, -1.0, 1.0)
    total = 2 * c * c
    if x.volatility is not None:
        total = (1.0 + total) * (1.0 + x.volatility) - 1.0
    return sqrt(log1p(max(float(K_axes.shares(x.shape) @ total.ravel()), 0.0)))


def settled(V: Array | None, shape: tuple[int, ...]) -> Array | None:
    return None if V is None else K_axes.settle_singletons(V, shape)
