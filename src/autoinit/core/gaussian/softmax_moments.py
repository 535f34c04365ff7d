"""Moments of a softmax row over n independent Gaussian logits, exact at any scale.

A power of the normaliser is an integral, Z^{-A} = ∫ t^{A−1} e^{−tZ} dt / Γ(A), so with t = e^y

    E[Π p_i^{a_i}] = 1/Γ(A) ∫ Π_i G_{a_i}(y) · L(y)^{n−m} dy,      A = Σ a_i over m entries,
    G_a(y) = E[e^{a(x+y) − e^{x+y}}],    L(y) = E[e^{−e^{x+y}}],    x ~ N(0, variance).

For a narrow law of x the inner mean is over x; for a wide one it is over the Gumbel variable instead, so
both are smooth. L and G do not depend on n: one table of each serves rows of every length. Two rows with
correlated logits are the same integral in two variables: given the common part of the logits the rows are
independent.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from .functions import Array, clamp

_CACHE_SIZE = 4096
_WIDE = 0.5  # from this standard deviation on the inner mean runs over the Gumbel variable
_SMALL = 1e-5  # below this variance the first orders are exact enough
_W_STEP = 0.3
_W = np.arange(-40.0, 4.6, _W_STEP)
_W_WEIGHT = np.stack([_W_STEP * np.exp(max(a, 1) * _W - np.exp(_W)) for a in range(5)], axis=1)  # miss, G_1 .. G_4
_Z, _Z_WEIGHT = np.polynomial.hermite_e.hermegauss(32)
_Z_WEIGHT = _Z_WEIGHT / _Z_WEIGHT.sum()
_MOST_POINTS = 500
_ALMOST_INDEPENDENT = 1e-3
_NOTHING = -300.0  # log L where L is taken to be zero


def _miss(y: Array, std: float) -> Array:
    """1 − L(y), without cancellation."""
    if std < _WIDE:
        return np.asarray(-np.expm1(-np.exp(y[:, None] + std * _Z)) @ _Z_WEIGHT)
    return np.asarray(special.ndtr((y[:, None] - _W) / std) @ _W_WEIGHT[:, 0])


def _powers(y: Array, std: float, most: int) -> Array:
    """G_a(y) for a = 1 .. most, one column each."""
    if std < _WIDE:
        w = y[:, None] + std * _Z
        with np.errstate(over="ignore", invalid="ignore"):
            return np.stack([np.exp(a * w - np.exp(w)) @ _Z_WEIGHT for a in range(1, most + 1)], axis=1)
    kernel = np.exp(-0.5 * ((_W - y[:, None]) / std) ** 2)
    return np.asarray(kernel @ _W_WEIGHT[:, 1 : most + 1] / (std * math.sqrt(2.0 * math.pi)))


class _Logits:
    """What one logit contributes: log L and G_1 .. G_4 on a grid of y that serves rows of up to e^longest entries.

    The sum over the grid is exact to about exp(−π²/0.4) wherever the integrand is as smooth as G.
    """

    __slots__ = ("log_rest", "powers", "step", "y")

    def __init__(self, variance: float, longest: float) -> None:
        std = math.sqrt(variance)
        low, high = -longest - 42.0 - 9.0 * std, 6.0 + 9.0 * std
        points = math.ceil((high - low) / (0.4 * math.sqrt(1.0 + variance / (1.0 + 2.0 * longest)))) + 1
        self.y: Array = np.linspace(low, high, points)
        self.step = (high - low) / (points - 1)
        with np.errstate(all="ignore"):
            self.log_rest: Array = np.maximum(np.log1p(-np.minimum(_miss(self.y, std), 1.0)), _NOTHING)
        self.powers = _powers(self.y, std, 4)


_logits = lru_cache(maxsize=256)(_Logits)


class _Row:
    """The integrand of one row of n entries."""

    __slots__ = ("logits", "n")

    def __init__(self, n: float, variance: float) -> None:
        self.n, self.logits = n, _logits(variance, 8.0 * math.ceil(math.log(n) / 8.0))

    def density(self, *powers: int) -> Array:
        """The integrand of E[Π p_i^{a_i}], times Γ(A)."""
        rest = self.logits.log_rest
        value = np.exp(np.maximum((self.n - len(powers)) * rest, -745.0)) * (rest > _NOTHING)
        for a in powers:
            value = value * self.logits.powers[:, a - 1]
        return value

    def moment(self, *powers: int) -> float:
        """E[Π p_i^{a_i}] over distinct entries."""
        return float(self.density(*powers).sum()) * self.logits.step / math.gamma(sum(powers))

    def live(self, depth: float) -> tuple[float, float]:
        """The range of y that matters, down to exp(−depth) of the peak."""
        density, y = self.density(1), self.logits.y
        inside = np.flatnonzero(density > density.max() * math.exp(-depth))
        return float(y[max(inside[0] - 1, 0)]), float(y[min(inside[-1] + 1, y.size - 1)])


@lru_cache(maxsize=_CACHE_SIZE)
def _square(n: float, variance: float) -> float:
    """P₂ = E[Σp²] = E[n p²]."""
    if variance <= _SMALL:
        growth = math.expm1(variance)
        return (1.0 + growth) / (n + growth)
    row = _Row(n, variance)  # n E[p] is 1 up to the error of the quadrature
    return min(max(row.moment(2) / row.moment(1), 1.0 / n), 1.0)


@lru_cache(maxsize=_CACHE_SIZE)
def _flow(n: float, variance: float) -> float:
    """Σ_j E[(∂p_i/∂x_j)²] = (P₂ − 2 E[Σp³] + E[(Σp²)²]) / n, the slope of E[p_i p'_i] at full covariance."""
    if variance <= _SMALL:
        return (n - 1.0) / n**3 * math.exp(variance)
    row = _Row(n, variance)
    rest = 2.0 * row.moment(3) - row.moment(4) - (n - 1.0) * row.moment(2, 2)
    return max(_square(n, variance) - rest / row.moment(1), 0.0) / n


def _check(n: float, variance: float) -> None:
    if not (n >= 1.0 and math.isfinite(n)):
        raise ValueError(f"a softmax needs a finite number of entries ≥ 1, received {n}")
    if not (variance >= 0.0 and math.isfinite(variance)):
        raise ValueError(f"the variance of the logits has to be finite and ≥ 0, received {variance}")


def pair_moments(n: float, variance: float, covs: Array) -> Array:
    """E[p_i p'_i] for two rows whose logits of the same index have covariance c, all others none.

    1/n² at c = 0 and P₂/n at c = variance. Up to a variance of 1, interpolated between these with the exact
    slopes at both ends (within 1 %); beyond, by the integral over both rows.
    """
    _check(n, variance)
    covs = clamp(np.asarray(covs, dtype=np.float64), -variance, variance)
    n, variance = float(n), float(variance)
    if n == 1.0 or variance == 0.0:
        return np.full(covs.shape, 1.0 / (n * n))
    if variance <= 1.0:
        return _between_ends(n, variance, covs)
    flat = [_pair(n, variance, float(cov) / variance) for cov in covs.ravel()]
    return np.array(flat).reshape(covs.shape)


def flow_moments(n: float, variance: float, covs: Array) -> Array:
    """Σ_j E[∂p_i/∂x_j ∂p'_i/∂x'_j] of two rows as in `pair_moments`: by Price's theorem its slope in c.

    (1−P₂)²/(n(n−1)) at c = 0 and `_flow` at c = variance, and a power of c/variance between.
    """
    _check(n, variance)
    covs = clamp(np.asarray(covs, dtype=np.float64), -variance, variance)
    n, variance = float(n), float(variance)
    if n == 1.0:
        return np.zeros(covs.shape)
    square, flow = _square(n, variance), _flow(n, variance)
    start = (1.0 - square) ** 2 / (n * (n - 1.0))
    if variance == 0.0:
        return np.full(covs.shape, start)
    gain = (square - 1.0 / n) / n
    rise = (gain / variance - start) / max(flow - start, 1e-300)  # the mean of r^q is 1/(q + 1)
    power = min(max(1.0 / rise - 1.0, 1.0), 8.0) if rise > 0.0 else 1.0
    return np.asarray(start + (flow - start) * np.abs(covs / variance) ** power)


def _between_ends(n: float, variance: float, covs: Array) -> Array:
    """1/n² + (P₂/n − 1/n²)(α r + (1−α) r^q): α from the slope (1−P₂)²/(n(n−1)) at 0, q from that at 1."""
    square, flow = _square(n, variance), _flow(n, variance)
    gain = (square - 1.0 / n) / n
    r = covs / variance
    start = min(max(variance * (1.0 - square) ** 2 / (n * (n - 1.0)) / gain, 0.0), 1.0)
    end = max(variance * flow / gain, 1.0)
    exponent = min(max((end - start) / (1.0 - start), 2.0), 6.0) if start < 1.0 - 1e-6 else 2.0
    return np.maximum(1.0 / (n * n) + gain * (start * r + (1.0 - start) * np.abs(r) ** exponent), 0.0)


@lru_cache(maxsize=_CACHE_SIZE)
def _pair(n: float, variance: float, r: float) -> float:
    """∫∫ D(y,y') J(y,y')^{n−1} dy dy' with D = E[b b'], J = E[l l'] over the common part of the logits.

    b and l are G_1 and L for the own part of the logits; a common part of j steps of the grid shifts them
    by j points, so one table of each serves every term.
    """
    square = _square(n, variance)
    if r >= 1.0 or r == 0.0:
        return square / n if r else 1.0 / (n * n)
    if abs(r) < _ALMOST_INDEPENDENT:  # the first order; a grid as fine as the common part would not fit into memory
        return 1.0 / (n * n) + r * variance * (1.0 - square) ** 2 / (n * (n - 1.0))
    low, high = _Row(n, variance).live(18.0)
    common = math.sqrt(abs(r) * variance)
    narrowest = (min(high - low, 16.0 * common) / _MOST_POINTS) ** 2 * 8.0
    own = (1.0 - abs(r)) * variance
    if own + 1.0 < narrowest:  # too fine for the grid: close to the end the gap falls as a square root
        limit = math.copysign(1.0 - narrowest / variance, r)
        edge = square / n if r > 0.0 else 0.0
        return edge + (_pair(n, variance, limit) - edge) * math.sqrt((1.0 - abs(r)) / (1.0 - abs(limit)))
    step = min(0.4 * math.sqrt(1.0 + own / (1.0 + 0.5 * math.log(n))), 0.7 * common)
    points = int((high - low) / step) + 2
    shifts = int(8.0 * common / step) + 1
    y = low + step * np.arange(-shifts, points + shifts, dtype=np.float64)
    std = math.sqrt(own)
    bump, miss = _powers(y, std, 1)[:, 0], _miss(y, std)
    weight = np.exp(-0.5 * (np.arange(-shifts, shifts + 1) * step / common) ** 2)
    weight /= weight.sum()
    window = np.lib.stride_tricks.sliding_window_view
    b, m = window(bump, 2 * shifts + 1), window(miss, 2 * shifts + 1)
    other_b, other_m = (b, m) if r > 0.0 else (b[:, ::-1], m[:, ::-1])
    weighted_b, weighted_m = b * weight, m * weight
    density = weighted_b @ other_b.T
    alone = weighted_m.sum(axis=1)
    missed = alone[:, None] + alone - weighted_m @ other_m.T
    with np.errstate(all="ignore"):
        both = np.exp(np.maximum((n - 1.0) * np.log1p(-np.minimum(missed, 1.0)), -745.0))
    value = float((density * both).sum()) * step * step
    return min(max(value, 0.0 if r < 0.0 else 1.0 / (n * n)), square / n)


@lru_cache(maxsize=_CACHE_SIZE)
def logsumexp_moments(n: float, variance: float) -> tuple[float, float]:
    """Mean and variance of log Z = log Σ e^{x_i} for n independent Gaussian logits of mean 0.

    For an independent unit exponential E, log E − log Z has the density n G_1(y) L(y)^{n−1}, and log E
    has mean −γ and variance π²/6. For small variances log Z is normal to the order needed.
    """
    _check(n, variance)
    n, variance = float(n), float(variance)
    if n == 1.0:
        return 0.0, variance
    if variance <= 1e-3:
        spread = math.log1p(math.expm1(variance) / n)
        return math.log(n) + 0.5 * (variance - spread), spread
    row = _Row(n, variance)
    density, y = row.density(1), row.logits.y
    density = density / density.sum()
    mean = float(density @ y)
    spread = float(density @ (y - mean) ** 2)
    return -float(np.euler_gamma) - mean, max(spread - math.pi**2 / 6.0, 0.0)
