"""Moments of the maximum of k equally correlated entries f(u_i), without sampling.

u_i = m + σ(√w z + √(1−w) e_i) with a common factor z and k independent e_i, w = within / var. Given z the
entries are independent, so M | z has a known law: for monotone f it is f at the extreme of k normals,
otherwise the k-th power of the distribution function of f. One more integral over z gives the moments.

For two copies whose entries have covariance `same` at one place and `across` at different places, the
common factors have correlation across / within, and the e_i of one place have correlation
τ = (same − across) / (var − within). Write the extreme of the e_i as a function of a standard normal ζ and
expand M in Hermite polynomials of both, M = Σ C_ln h_l(z) h_n(ζ). Then

    E[M M'] = Σ C_ln² (across / within)^l c^n,

c being chosen so that the maxima of k pairs of normals of correlation τ get their true correlation.
This is exact for identical copies (c = 1), for independent ones, and whenever same = across (c = 0).
For non-monotone f only the first order in ζ is kept: the mean and the deviation of M given z.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from . import quadrature
from .expression import Expr, evaluate, is_constant
from .functions import Array
from .integrals import analyse
from .panels import panel_marks
from .quadrature import LARGEST, legendre_panels

_CACHE_SIZE = 2048
_E_STEP = 17.0 / 400
_ORDERS = 12


def _extreme_range(k: int) -> tuple[float, float]:
    """Where the maximum of k standard normals lies, but for a chance of 1e-17 on either side."""
    if k == 1:
        return -8.6, 8.6
    return float(special.ndtri_exp(math.log(1e-17) / k)), -float(special.ndtri(1e-17 / k))


@lru_cache(maxsize=256)
def _extreme_law(k: int, marks: tuple[float, ...] = ()) -> tuple[Array, Array]:
    """Nodes and probabilities for the maximum of k independent standard normals."""
    low, high = _extreme_range(k)
    inner = [mark for mark in marks if low < mark < high]
    edges = np.unique(np.concatenate([np.linspace(low, high, 5), inner]))
    e, weight = legendre_panels(edges, 16)
    weight = weight * np.exp(-0.5 * e * e + (k - 1) * special.log_ndtr(e))
    return e, weight / weight.sum()


@lru_cache(maxsize=256)
def extreme_moments(k: int) -> tuple[float, float]:
    """Mean and variance of the maximum of k independent standard normals."""
    e, p = _extreme_law(k)
    mean = float(p @ e)
    return mean, float(p @ (e - mean) ** 2)


@lru_cache(maxsize=_CACHE_SIZE)
def extreme_correlation(k: int, tau: float) -> float:
    """Correlation of the maxima of k pairs of normals of correlation tau, by Hoeffding's formula

    Cov = ∫∫ [Φ₂(x, y; τ)^k − Φ(x)^k Φ(y)^k] dx dy.
    """
    tau = min(max(tau, -1.0), 1.0)
    if k == 1 or tau in (0.0, 1.0):
        return tau
    low, high = _extreme_range(k)
    x, weight = legendre_panels(np.linspace(max(low, -6.0), min(high, 8.0), 4), 16)
    angle = math.asin(tau)
    nodes, weights = legendre_panels((0.0, angle), 20)
    sin = np.sin(nodes)
    square = 2.0 * (1.0 - sin) * (1.0 + sin)
    rows, columns = np.triu_indices(x.size)
    a, b = x[rows], x[columns]
    with np.errstate(under="ignore"):
        exponent = -np.multiply.outer((a - b) ** 2, 1.0 / square) - np.multiply.outer(a * b, 1.0 / (1.0 + sin))
        joint = np.exp(exponent) @ weights / (2.0 * math.pi)
    logs = special.log_ndtr(x)
    apart = np.exp(logs[rows] + logs[columns])
    together = np.minimum(np.maximum(apart + joint, 0.0), np.exp(np.minimum(logs[rows], logs[columns])))
    twice = np.where(rows == columns, 1.0, 2.0) * weight[rows] * weight[columns]
    covariance = float(twice @ (together**k - apart**k))
    return min(max(covariance / extreme_moments(k)[1], -1.0), 1.0)


@lru_cache(maxsize=256)
def _extreme_hermite(k: int) -> tuple[Array, Array]:
    """h_n(ζ) weighted by probability at the nodes of the extreme law, and the expansion of the extreme."""
    e, p = _extreme_law(k)
    zeta = special.ndtri_exp(k * special.log_ndtr(e))
    basis = quadrature.hermite_functions(np.clip(zeta, -9.0, 9.0))[:_ORDERS]
    q, r = np.linalg.qr((basis * np.sqrt(p)).T)  # orthonormal on these very nodes
    weighted = q * np.sign(np.diag(r)) * np.sqrt(p)[:, None]
    return weighted, weighted.T @ e


@lru_cache(maxsize=_CACHE_SIZE)
def _copula(k: int, tau: float) -> float:
    """The correlation of the normal variables ζ that gives the extremes their true correlation."""
    target = extreme_correlation(k, tau)
    if k == 1 or target in (0.0, 1.0):
        return target
    squares = _extreme_hermite(k)[1] ** 2
    squares[0] = 0.0
    squares /= squares.sum()
    low, high = -1.0, 1.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        value = float(np.polynomial.polynomial.polyval(middle, squares))
        low, high = (middle, high) if value < target else (low, middle)
    return 0.5 * (low + high)


class _Conditional:
    """M given the common factor z, on fixed nodes of z: its moments and its expansion in the own part ζ."""

    __slots__ = ("expansion", "first", "hermite", "second", "weight")

    def __init__(self, expr: Expr, mean: float, var: float, within: float, k: int):
        std = math.sqrt(var)
        common, own = math.sqrt(max(within, 0.0)), math.sqrt(1.0 - within)
        self.hermite: Array | None = None
        rows, self.weight = np.zeros(1), np.ones(1)
        if common and expr.monotone:
            rows, self.weight, self.hermite = quadrature.BASE_Z, quadrature.BASE_W, quadrature.BASE_HERMITE
        elif common:
            rows, self.weight, self.hermite = _coarse_rows()
        if expr.monotone:
            e, p = _extreme_law(k)
            x = mean + std * (common * rows[:, None] + expr.monotone * own * _narrowed(e, k, within))
            value = _safe(expr, x)
            self.expansion = value @ _extreme_hermite(k)[0]
            if not common and within >= 0.0:
                marks = panel_marks(expr, mean, std)
                e, p = _extreme_law(k, tuple(sorted(expr.monotone * mark / own for mark in marks)))
                value = _safe(expr, mean + std * expr.monotone * own * e)[None]
            self.first, self.second = value @ p, (value * value) @ p
        else:
            self.first, self.second = _by_distribution(expr, mean, std, common * rows, own, k)
            spread = np.sqrt(np.maximum(self.second - self.first**2, 0.0))
            self.expansion = np.stack([self.first, spread], axis=1)

    def moments(self) -> tuple[float, float]:
        return float(self.weight @ self.first), float(self.weight @ self.second)

    def pair(self, common: float, own: float) -> float:
        """E[M M'] when the common factors have correlation `common` and the own parts `own`."""
        totals = self.weight @ self.expansion**2
        orders = own ** np.arange(totals.size)
        if self.hermite is None:
            joint = totals
        else:
            squares = (self.hermite @ (self.weight[:, None] * self.expansion)) ** 2
            degrees = np.arange(squares.shape[0] + 1)
            squares = np.vstack([squares, np.maximum(totals - squares.sum(axis=0), 0.0)])
            joint = common**degrees @ squares
        rest = max(float(self.weight @ self.second) - float(totals.sum()), 0.0)
        return float(orders @ joint) + rest * abs(common) * own**totals.size


@lru_cache(maxsize=1)
def _coarse_rows() -> tuple[Array, Array, Array]:
    z, weight = quadrature.normal_panels((-6.0, 0.0, 6.0), 16)
    return z, weight / weight.sum(), quadrature.hermite_functions(z)[:24]


def _safe(expr: Expr, x: Array) -> Array:
    return np.clip(np.nan_to_num(evaluate(expr, x), posinf=np.inf, neginf=-np.inf), -LARGEST, LARGEST)


def _narrowed(e: Array, k: int, within: float) -> Array:
    """Negative correlation: the maximum keeps its mean and loses the variance of the common factor."""
    if within >= 0.0:
        return e
    mean, variance = extreme_moments(k)
    share = max(1.0 + within / ((1.0 - within) * variance), 0.0)
    return mean + math.sqrt(share) * (e - mean)


def _by_distribution(expr: Expr, mean: float, std: float, shift: Array, own: float, k: int) -> tuple[Array, Array]:
    """E[M | z] = Σ y ΔG(y)^k with G the distribution function of f, on a fine grid of the own part."""
    e = np.arange(-8.5 + 0.5 * _E_STEP, 8.5, _E_STEP)
    mass = special.ndtr(e + 0.5 * _E_STEP) - special.ndtr(e - 0.5 * _E_STEP)
    mass = np.where(e > 0.0, mass[::-1], mass)
    value = _safe(expr, mean + std * (shift[:, None] + own * e))
    order = np.argsort(-value, axis=1)
    value = np.take_along_axis(value, order, axis=1)
    above = np.minimum(np.cumsum(mass[order], axis=1), 1.0)
    with np.errstate(divide="ignore"):
        below_power = np.exp(k * np.log1p(-above))
    share = -np.diff(below_power, axis=1, prepend=1.0)
    share[:, -1] += below_power[:, -1]
    return (value * share).sum(axis=1), (value * value * share).sum(axis=1)


_conditional = lru_cache(maxsize=_CACHE_SIZE)(_Conditional)


def _correlation(expr: Expr, within: float, var: float, k: int) -> float | None:
    """within / var, kept to what k entries can have; None if all are the same, or there is one only."""
    if k < 1:
        raise ValueError(f"a maximum needs at least one entry, received k = {k}")
    if var == 0.0 or k == 1 or is_constant(expr):
        return None
    rho = min(max(within / var, -1.0 / (k - 1)), 1.0)
    return rho if rho <= 1.0 - 1e-9 else None


def max_moments(expr: Expr, mean: float, var: float, within: float, k: int) -> tuple[float, float]:
    """(E[M], E[M²]) for M = max of k entries f(u_i) whose u_i have the common covariance `within`."""
    rho = _correlation(expr, within, var, k)
    if rho is None:
        single = analyse(expr, mean, var)
        return single.mean, single.second
    return _conditional(expr, float(mean), float(var), rho, int(k)).moments()


def max_pair(expr: Expr, mean: float, var: float, within: float, k: int, same: float, across: float) -> float:
    """E[M M'] for two copies: covariance `same` between entries of one place, `across` between places."""
    rho = _correlation(expr, within, var, k)
    if rho is None:
        cov = same if k == 1 else across + (same - across) / k
        return float(analyse(expr, mean, var).pair(np.array([cov]))[0])
    return _max_pair(expr, float(mean), float(var), rho, int(k), float(same) / var, float(across) / var)


@lru_cache(maxsize=_CACHE_SIZE)
def _max_pair(expr: Expr, mean: float, var: float, rho: float, k: int, same: float, across: float) -> float:
    across = min(max(across, -max(rho, 0.0)), max(rho, 0.0))
    tau = min(max((same - across) / (1.0 - rho), -1.0), 1.0)
    if not expr.monotone and 0.0 < abs(tau) < 1.0:
        tau = _own_correlation(expr, mean, var * (1.0 - rho), tau)
    common = across / rho if rho > 0.0 else 0.0
    return _conditional(expr, mean, var, rho, k).pair(
        common, _copula(k, tau) if expr.monotone else extreme_correlation(k, tau)
    )


def _own_correlation(expr: Expr, mean: float, var: float, tau: float) -> float:
    """Correlation of f(u) and f(u') when u and u' have correlation tau."""
    own = analyse(expr, mean, var)
    if own.variance <= 0.0:
        return tau
    return float((own.pair(np.array([tau * var]))[0] - own.mean**2) / own.variance)
