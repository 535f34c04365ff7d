"""Exact Gaussian moments of every piecewise linear function, with or without jumps.

With f = s_i x + b_i between breaks k_i, the moments are sums of truncated normal moments. Write the
breaks in standard units as h_i, the slope changes as S_i and the jumps as D_i. The pair moment
K(ρ) = E[f(u)f(v)] obeys dK/dρ = E[f'(u)f'(v)], so with the bivariate normal density p_ij at (h_i, h_j)

    K(ρ) = (E f)² + ρ (E g)² + Σ_ij S_i S_j ∫₀^ρ (ρ − r) p_ij(r) dr + Σ_ij D_i D_j ∫₀^ρ p_ij(r) dr
           + 2 Σ_i D_i φ(h_i) ∫₀^ρ E[g(v) | u = h_i] dr

where g is f' without the jumps. The substitution r = sin θ makes every integrand smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from .functions import Array, clamp
from .quadrature import legendre_panels

_FEW, _FEW_WEIGHTS = legendre_panels((0.0, 1.0), 12)
_NODES, _WEIGHTS = legendre_panels((0.0, 1.0), 24)
_INV_SQRT_TAU = 1.0 / math.sqrt(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
_SQRT_HALF = math.sqrt(0.5)


def density(z: float) -> float:
    """The standard normal density."""
    return _INV_SQRT_TAU * math.exp(-0.5 * z * z) if abs(z) < 39.0 else 0.0


def cumulative(z: float) -> float:
    """The standard normal distribution function, exact in both tails."""
    return 0.5 * math.erfc(-_SQRT_HALF * z)


def _upper(a: float) -> tuple[float, float, float]:
    """E[(z−a)₊^k] for k = 0, 1, 2 and a ≥ 0, by the scaled complementary error function."""
    if a > 39.0:
        return 0.0, 0.0, 0.0
    phi = density(a)
    mills = _SQRT_HALF_PI * float(special.erfcx(_SQRT_HALF * a))
    return phi * mills, phi * (1.0 - a * mills), phi * ((1.0 + a * a) * mills - a)


def _slab(a: float, b: float) -> tuple[float, float, float]:
    """∫_a^b (z−a)^k φ(z) dz for k = 0, 1, 2 and 0 ≤ a < b."""
    if b - a < 0.5 / max(1.0, a):
        t = (b - a) * _FEW
        mass = (b - a) * _FEW_WEIGHTS * _INV_SQRT_TAU * np.exp(-0.5 * (a + t) ** 2)
        return float(mass.sum()), float(mass @ t), float(mass @ (t * t))
    a0, a1, a2 = _upper(a)
    if b > 39.0:
        return a0, a1, a2
    b0, b1, b2 = _upper(b)
    gap = b - a
    return a0 - b0, a1 - b1 - gap * b0, a2 - b2 - gap * (2.0 * b1 + gap * b0)


@dataclass(frozen=True)
class PiecewiseLinear:
    """f(x) = slopes[i] * x + intercepts[i] between breaks[i-1] and breaks[i]."""

    breaks: tuple[float, ...]
    slopes: tuple[float, ...]
    intercepts: tuple[float, ...]

    def moments(self, mean: float, std: float) -> tuple[float, float]:
        """E f and E f², each piece anchored where its mass is so that nothing cancels."""
        first = second = 0.0
        edges = (-math.inf, *self.breaks, math.inf)
        for i, (slope, intercept) in enumerate(zip(self.slopes, self.intercepts, strict=True)):
            low, high = (edges[i] - mean) / std, (edges[i + 1] - mean) / std
            if low >= high:
                continue
            if low <= 0.0 <= high:
                value, step = slope * mean + intercept, slope * std
                p_low, p_high = density(low), density(high)
                if low > -1.0 and high < 1.0:
                    m0 = 0.5 * (math.erf(_SQRT_HALF * high) - math.erf(_SQRT_HALF * low))
                else:
                    m0 = 1.0 - cumulative(low) - cumulative(-high)
                m1 = p_low - p_high
                m2 = m0 + (low * p_low if p_low else 0.0) - (high * p_high if p_high else 0.0)
            elif low > 0.0:
                value, step = slope * edges[i] + intercept, slope * std
                m0, m1, m2 = _slab(low, high)
            else:
                value, step = slope * edges[i + 1] + intercept, -slope * std
                m0, m1, m2 = _slab(-high, -low)
            if m0 > 0.0:
                first += value * m0 + step * m1
                second += value * value * m0 + 2.0 * value * step * m1 + step * step * m2
        return first, max(second, 0.0)

    def jumps(self) -> tuple[float, ...]:
        s, b = self.slopes, self.intercepts
        return tuple((s[i + 1] - s[i]) * k + b[i + 1] - b[i] for i, k in enumerate(self.breaks))

    def mean_slope(self, mean: float, std: float) -> float:
        """E f' in the sense of distributions: slopes by their mass, jumps by the density at their place."""
        edges = (-math.inf, *self.breaks, math.inf)
        total = 0.0
        for i, slope in enumerate(self.slopes):
            low, high = (edges[i] - mean) / std, (edges[i + 1] - mean) / std
            if slope and low < high:
                mass = cumulative(high) - cumulative(low) if high < 0.0 else cumulative(-low) - cumulative(-high)
                total += slope * mass
        for place, jump in zip(self.breaks, self.jumps(), strict=True):
            total += jump * density((place - mean) / std) / std
        return total

    def pair(self, mean: float, var: float, cov: Array) -> Array:
        """E[f(u)f(v)] for every covariance, by the formula at the head of this file."""
        std = math.sqrt(var)
        rho = clamp(np.asarray(cov, dtype=np.float64) / var, -1.0, 1.0)
        first, second = self.moments(mean, std)
        places = [(k - mean) / std for k in self.breaks]
        bends = [(self.slopes[i + 1] - self.slopes[i]) * std for i in range(len(self.breaks))]
        jumps = [
            jump if abs(jump) > 1e-12 * (1.0 + abs(k)) else 0.0
            for jump, k in zip(self.jumps(), self.breaks, strict=True)
        ]
        smooth_slope = std * self.mean_slope(mean, std)
        smooth_slope -= sum(jump * density(h) for jump, h in zip(jumps, places, strict=True))
        angle = np.arcsin(rho)
        total: Array = first * first + rho * smooth_slope**2
        active = [i for i, h in enumerate(places) if abs(h) < 39.0]
        if len(active) == 1 and places[active[0]] == 0.0 and not jumps[active[0]]:
            kink = bends[active[0]] ** 2 / (2.0 * math.pi)
            total += kink * (rho * angle + np.sqrt((1.0 - rho) * (1.0 + rho)) - 1.0)
            return np.where(rho >= 1.0, second, total)
        if not active:
            return np.where(rho >= 1.0, second, total)
        theta, step = angle[..., None] * _NODES, angle[..., None] * _WEIGHTS
        sin = np.sin(theta)
        for i in active:
            for j in active:
                if j < i:
                    continue
                twice = 1.0 if i == j else 2.0
                curve = bends[i] * bends[j] * (rho[..., None] - sin) + jumps[i] * jumps[j]
                total += twice * np.einsum("...n,...n,...n->...", curve, _joint(places[i], places[j], sin), step)
        cos = np.cos(theta) if any(jumps) else sin
        for i in active:
            if not jumps[i]:
                continue
            slope = np.full_like(sin, self.slopes[0] * std)
            for j, h in enumerate(places):
                slope += bends[j] * special.ndtr((places[i] * sin - h) / cos)
            inner = np.sum(slope * cos * step, axis=-1)
            total = total + 2.0 * jumps[i] * density(places[i]) * inner
        return np.where(rho >= 1.0, second, total)


def _joint(h: float, k: float, sin: Array) -> Array:
    """p(h, k; r) dr/dθ at r = sin θ, arranged so that the equal (or opposite) corners stay finite."""
    with np.errstate(all="ignore"):
        if h == k:
            return np.asarray(np.exp(-h * h / (1.0 + sin)) / (2.0 * math.pi))
        square = 2.0 * (1.0 - sin) * (1.0 + sin)
        near = (h - k) ** 2 / square + h * k / (1.0 + np.maximum(sin, 0.0))
        far = (h + k) ** 2 / square - h * k / (1.0 - np.minimum(sin, 0.0))
        return np.asarray(np.exp(-np.where(sin >= 0.0, near, far)) / (2.0 * math.pi))
