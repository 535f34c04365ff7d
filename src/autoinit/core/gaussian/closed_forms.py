"""Closed Gaussian moments of the smooth functions that have them.

`*_moments(mean, std, *params)` gives (E f, E f²), or None where the closed form would cancel and
quadrature is better. `*_pair(mean, var, cov, *params)` gives E[f(u)f(v)], or None likewise.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from autoinit.core.gaussian.functions import Array
from autoinit.core.gaussian.piecewise import cumulative, density

Moments = tuple[float, float] | None

_KEEP = 1e-5  # a sum smaller than this share of its terms has lost too many digits


def _sum(*terms: float) -> float:
    """The sum, or NaN if it cancels (or overflows)."""
    total = math.fsum(terms) if all(map(math.isfinite, terms)) else math.nan
    return total if abs(total) >= _KEEP * max(map(abs, terms)) else math.nan


def _checked(first: float, second: float) -> Moments:
    return (first, second) if math.isfinite(first) and math.isfinite(second) else None


def _exp(x: float) -> float:
    return math.exp(x) if x < 709.0 else math.inf


# --- exponentials ----------------------------------------------------------------------------------


def exp_moments(mean: float, std: float, rate: float = 1.0) -> Moments:
    m, v = rate * mean, (rate * std) ** 2
    return _checked(_exp(m + 0.5 * v), _exp(2.0 * (m + v)))


def exp_pair(mean: float, var: float, cov: Array, rate: float = 1.0) -> Array:
    return np.asarray(np.exp(2.0 * rate * mean + rate * rate * (var + cov)))


def expm1_moments(mean: float, std: float) -> Moments:
    """E(e^x−1)² = (e^{2m+2v} − e^{2m+v}) + (e^{m+v/2} − 1)²."""
    v = std * std
    if 2.0 * (mean + v) > 700.0:
        return None
    first = math.expm1(mean + 0.5 * v)
    return first, math.exp(2.0 * mean + v) * math.expm1(v) + first * first


def expm1_pair(mean: float, var: float, cov: Array) -> Array:
    return np.asarray(math.exp(2.0 * mean + var) * np.expm1(cov) + math.expm1(mean + 0.5 * var) ** 2)


def sin_moments(mean: float, std: float) -> Moments:
    v = std * std
    second = 0.5 * -math.expm1(-2.0 * v) + math.exp(-2.0 * v) * math.sin(mean) ** 2
    return math.exp(-0.5 * v) * math.sin(mean), second


def sin_pair(mean: float, var: float, cov: Array) -> Array:
    """½(e^{−(v−c)} − e^{−(v+c)} cos 2m), as sinh so that small variances keep their digits."""
    down, up = np.exp(cov - var), np.exp(-cov - var)
    difference = 2.0 * math.exp(-var) * np.sinh(cov) if var < 300.0 else down - up
    return np.asarray(0.5 * difference + up * math.sin(mean) ** 2)


def cos_moments(mean: float, std: float) -> Moments:
    v = std * std
    second = 0.5 * -math.expm1(-2.0 * v) + math.exp(-2.0 * v) * math.cos(mean) ** 2
    return math.exp(-0.5 * v) * math.cos(mean), second


def cos_pair(mean: float, var: float, cov: Array) -> Array:
    down, up = np.exp(cov - var), np.exp(-cov - var)
    return np.asarray(0.5 * (down - up) + up * math.cos(mean) ** 2)


def sinh_moments(mean: float, std: float) -> Moments:
    """E sinh² = ½(e^{2v} − 1) + e^{2v} sinh² m."""
    v = std * std
    if 2.0 * (abs(mean) + v) > 700.0:
        return None
    return math.exp(0.5 * v) * math.sinh(mean), 0.5 * math.expm1(2.0 * v) + math.exp(2.0 * v) * math.sinh(mean) ** 2


def sinh_pair(mean: float, var: float, cov: Array) -> Array:
    return np.asarray(math.exp(var) * np.sinh(cov) + np.exp(var + cov) * math.sinh(mean) ** 2)


def cosh_moments(mean: float, std: float) -> Moments:
    v = std * std
    if 2.0 * (abs(mean) + v) > 700.0:
        return None
    return math.exp(0.5 * v) * math.cosh(mean), 0.5 * math.expm1(2.0 * v) * math.cosh(2.0 * mean) + math.cosh(mean) ** 2


def cosh_pair(mean: float, var: float, cov: Array) -> Array:
    up, down = np.exp(var + cov), np.exp(var - cov)
    return np.asarray(0.5 * (up + down) + up * math.sinh(mean) ** 2)


# --- powers and lines ------------------------------------------------------------------------------


def affine_moments(mean: float, std: float, factor: float, offset: float) -> Moments:
    first = factor * mean + offset
    return first, first * first + (factor * std) ** 2


def affine_pair(mean: float, var: float, cov: Array, factor: float, offset: float) -> Array:
    return np.asarray((factor * mean + offset) ** 2 + factor * factor * cov)


def square_moments(mean: float, std: float) -> Moments:
    v, s = std * std, mean * mean
    return s + v, s * s + 6.0 * s * v + 3.0 * v * v


def square_pair(mean: float, var: float, cov: Array) -> Array:
    return np.asarray((mean * mean + var) ** 2 + 2.0 * cov * cov + 4.0 * mean * mean * cov)


# --- the normal distribution function inside -------------------------------------------------------


def erf_moments(mean: float, std: float) -> Moments:
    """E erf = erf(m / √(1+2v)); for m = 0, E erf² = (2/π) asin(2v / (1+2v))."""
    v = std * std
    if mean:
        return None
    return 0.0, math.atan(2.0 * v / math.sqrt(1.0 + 4.0 * v)) * 2.0 / math.pi


def erf_pair(mean: float, var: float, cov: Array) -> Array | None:
    if mean:
        return None
    # asin(a) at a = 2c/(1+2v) as an arctangent: 1 - a is known without cancellation.
    low, high = 1.0 + 2.0 * (var - cov), 1.0 + 2.0 * (var + cov)
    return np.asarray(np.arctan2(2.0 * cov, np.sqrt(low * high)) * 2.0 / math.pi)


def gelu_moments(mean: float, std: float) -> Moments:
    """E[xΦ] = mΦ(h) + (v/s)φ(h), h = m/s, s² = 1+v; and with G(m) = E[Φ²] = Φ(h) − 2T(h, 1/√(1+2v))
    (Owen's T), Stein's lemma twice: E[x²Φ²] = (m²+v)G + 2mvG' + v²G''."""
    v = std * std
    s, k = math.sqrt(1.0 + v), math.sqrt(1.0 + 2.0 * v)
    h = mean / s
    if h < -1.0:
        return None
    phi = density(h)
    first = _sum(mean * cumulative(h), v / s * phi)
    big = cumulative(h) - 2.0 * float(special.owens_t(h, 1.0 / k))
    tilt = cumulative(h / k)
    slope = 2.0 * phi / s * tilt
    bend = 2.0 * phi / s * (density(h / k) / (s * k) - h / s * tilt)
    return _checked(first, _sum((mean * mean + v) * big, 2.0 * mean * v * slope, v * v * bend))


def gelu_pair(mean: float, var: float, cov: Array) -> Array | None:
    """For mean 0: c E[ΦΦ] + (v² + c²(1−v)/(1+v)) E[φφ]."""
    if mean:
        return None
    low, high = 1.0 + var - cov, 1.0 + var + cov
    root = np.sqrt(low * high)
    both = 0.25 + np.arctan2(cov, root) / (2.0 * math.pi)
    bump = 1.0 / (2.0 * math.pi * root)
    return np.asarray(cov * both + (var * var + cov * cov * (1.0 - var) / (1.0 + var)) * bump)


# --- exponential linear units ----------------------------------------------------------------------


def _tilted(mean: float, std: float, rate: float) -> float:
    """E[e^{rx}; x < 0] = e^{rm + r²v/2} Φ(−(m + rv)/σ), in scaled form when the exponent is large."""
    t = (mean + rate * std * std) / std
    if t > 0.0:
        return 0.5 * math.exp(-0.5 * (mean / std) ** 2) * float(special.erfcx(t * math.sqrt(0.5)))
    return _exp(rate * mean + 0.5 * (rate * std) ** 2) * cumulative(-t)


def elu_moments(mean: float, std: float, alpha: float, scale: float, input_scale: float) -> Moments:
    if input_scale <= 0.0 or abs(mean) > 30.0 * std:
        return None
    h = mean / std
    up, phi = cumulative(h), density(h)
    one, two, none = _tilted(mean, std, input_scale), _tilted(mean, std, 2.0 * input_scale), cumulative(-h)
    linear = _sum(mean * up, std * phi)
    linear_square = _sum((mean * mean + std * std) * up, mean * std * phi)
    negative, negative_square = _sum(one, -none), _sum(two, -2.0 * one, none)
    first = _sum(linear, alpha * negative)
    return _checked(scale * first, scale * scale * (linear_square + alpha * alpha * negative_square))
