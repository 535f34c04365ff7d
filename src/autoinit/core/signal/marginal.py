"""Sums that are not Gaussian: relu(shortcut) + branch and the like.

The law of one entry is kept as `POINTS` equally likely values z_k = F(g_k) of a standard normal g (a Gaussian copula):
for a function of a source the function of its points, for a sum of independent parts the quantiles of all sums of
theirs. With the Hermite coefficients c_j of h(F(g)) a function h that follows has

    E[h] = c_0,   E[h(z) h(z')] = sum_j c_j^2 q(S)^j,

where the correlation q(S) of the normals is the one that gives z its own covariance at S.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from ..gaussian.expression import Expr, evaluate

if TYPE_CHECKING:
    from .profiles import Array
    from .signal import Signal

POINTS = 128
ORDERS = 24
MOST = 1e40
"""Values are cut here, so that their squares are numbers."""
SMALL_SHARE = 0.02
"""Parts with a smaller share of the variance do not change the shape of a sum."""


@dataclass(frozen=True, slots=True)
class Sum:
    """a u + b v with independent u, v: kept with a raw signal until somebody asks for its law."""

    a: float
    u: Signal
    b: float
    v: Signal


@lru_cache(maxsize=1)
def normal_points() -> Array:
    """Equally likely points of a standard normal, scaled to variance one."""
    g = ndtri((np.arange(POINTS) + 0.5) / POINTS)
    return np.asarray(g / np.sqrt(np.mean(g * g)))


@lru_cache(maxsize=1)
def hermite_rows() -> Array:
    """Orthonormal Hermite polynomials on `normal_points` (orthonormalised on the grid itself)."""
    V = np.polynomial.hermite_e.hermevander(normal_points(), ORDERS - 1)
    Q, R = np.linalg.qr(V)
    return np.asarray((Q * np.sign(np.diag(R))).T * np.sqrt(POINTS))


def is_shaped(signal: Signal) -> bool:
    """Whether the law of an entry is known not to be Gaussian."""
    if signal.source is not signal:
        return signal.expr.line is None or is_shaped(signal.source)
    return signal.parts is not None


def matters(u: Signal, v: Signal) -> bool:
    """Whether a sum of u and v needs more than its first two moments."""
    total = u.variance + v.variance
    if total <= 0:
        return False
    return any(is_shaped(s) and s.variance > SMALL_SHARE * total for s in (u, v))


def points_of(signal: Signal, stretch: tuple[float, float] | None = None) -> Array:
    """Equally likely values of an entry, in the order of its Gaussian copula.

    `stretch` multiplies the two parts of a sum, to see how the law follows their local variances.
    """
    if signal.source is not signal:
        return np.asarray(evaluate(signal.expr, points_of(signal.source)), float)
    if signal.parts is None:
        return np.asarray(signal.mean + np.sqrt(signal.variance) * normal_points())
    parts = signal.parts
    return signal.once(("points", stretch), lambda: _points_of_sum(signal, parts, stretch))


def _points_of_sum(signal: Signal, p: Sum, stretch: tuple[float, float] | None) -> Array:
    s, t = stretch or (1.0, 1.0)
    u, v = p.a * s * _halved(points_of(p.u)), p.b * t * _halved(points_of(p.v))
    made = np.sort(np.add.outer(u, v), axis=None).reshape(POINTS, -1).mean(axis=1)
    if stretch is None and signal.variance > 0:
        spread = float(made.std())
        made = signal.mean + (made - made.mean()) * (np.sqrt(signal.variance) / spread if spread > 0 else 1.0)
    return np.asarray(made, float)


def _halved(points: Array) -> Array:
    """Half as many equally likely points: means of neighbours, spread so that the variance stays."""
    z = np.sort(points)
    pairs = z.reshape(-1, 2).mean(axis=1)
    centre, spread = float(z.mean()), float(pairs.std())
    return np.asarray(centre + (pairs - centre) * (float(z.std()) / spread if spread > 0 else 1.0))


class ShapedAnalysis:
    """The counterpart of `gaussian.Analysis` for a function of a shaped source."""

    problem: str | None = None

    def __init__(self, expr: Expr, source: Signal) -> None:
        z = points_of(source)
        with np.errstate(all="ignore"):
            h = np.asarray(evaluate(expr, z), float)
        if not np.all(np.isfinite(h)):
            self.problem = "the function is not finite on part of its input"
            h = np.nan_to_num(h, nan=0.0, posinf=1e30, neginf=-1e30)
        h = np.clip(h, -MOST, MOST)
        self.expr, self.source = expr, source
        self.mean, self.second = float(h.mean()), float(np.mean(h * h))
        rows = hermite_rows()
        self._powers = np.square(rows @ h / POINTS)
        self._own = np.square(rows @ z / POINTS)
        grown = np.clip(np.nan_to_num(np.asarray(evaluate(expr, z * 1.01), float)), -MOST, MOST)
        ratio = np.mean(np.square(grown)) / max(self.second, 1e-300)
        self.slope = float(np.log(max(ratio, 1e-300)) / (2 * np.log(1.01)))

    def pair(self, cov: Array) -> Array:
        variance = self.source.variance
        rho = np.clip(cov / variance, -1.0, 1.0) if variance > 0 else np.ones_like(cov)
        q = _copula_correlation(rho, self._own)
        rest = max(self.second - float(self._powers.sum()), 0.0)
        made = np.polynomial.polynomial.polyval(q, self._powers) + rest * np.maximum(q, 0.0) ** ORDERS
        return np.asarray(made)

    def shaken(self) -> tuple[float, float, Array] | None:
        """(E[h], E[h^2], what E[h h'] gains) when local variances of zero-mean parts scatter with volatility V.

        The local variance r of such a part is log-normal, log r = -s/2 +- sqrt(s) with s = log(1 + V(0)), taken at two
        points; E[h h'] gains (dE[h]/dlog r)^2 log(1 + V(S)).
        """
        parts = self.source.parts
        if parts is None:
            return None
        mean, second, gained = self.mean, self.second, None
        slopes: list[tuple[float, Array]] = []
        for which, part in enumerate((parts.u, parts.v)):
            V = part.volatility
            if V is None or part.mean**2 > 0.05 * part.variance or V.flat[0] < 1e-4:
                continue
            s = float(np.log1p(V.flat[0]))
            plain = np.asarray(evaluate(self.expr, points_of(self.source, (1.0, 1.0))), float)
            found = []
            for log_r in (-s / 2 + s**0.5, -s / 2 - s**0.5):
                stretch = np.exp(log_r / 2)
                pair = (float(stretch), 1.0) if which == 0 else (1.0, float(stretch))
                h = np.asarray(evaluate(self.expr, points_of(self.source, pair)), float)
                found.append((float(h.mean()), float(np.mean(h * h))))
            (up, up2), (down, down2) = found
            mean += (up + down) / 2 - float(plain.mean())
            second += (up2 + down2) / 2 - float(np.mean(plain * plain))
            slope = (up - down) / (2 * s**0.5)
            shared = np.log1p(np.maximum(V, -0.9))
            slopes.append((slope, shared))
            gained = slope**2 * shared if gained is None else gained + slope**2 * shared
        if gained is None:
            return None
        if len(slopes) == 2:
            (a, V), (b, W) = slopes
            gained = gained + 2 * a * b * np.maximum(np.minimum(V, W), 0.0)
        return mean, second, gained + (mean**2 - self.mean**2)


_GRID = np.linspace(0.0, 1.0, 65)


def _copula_correlation(rho: Array, own: Array) -> Array:
    """q with sum_{j>0} own_j q^j = rho * sum_{j>0} own_j, for positive rho; rho itself otherwise."""
    powers = own.copy()
    powers[0] = 0.0
    total = float(powers.sum())
    if total <= 0:
        return rho
    curve = np.polynomial.polynomial.polyval(_GRID, powers) / total
    return np.where(rho > 0, np.interp(rho, curve, _GRID), rho)
