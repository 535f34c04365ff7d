"""E[f(u)g(v)] as a function of the correlation, from Hermite coefficients.

Mehler's formula: E[f(u)g(v)] = Σ a_n b_n ρⁿ. The first coefficients are computed; what they leave of
E[fg] is spread over the higher ones by a power law n^{-p} (p = 5/2 for a kink, 3/2 for a jump) whose
exponent is read from the last half of the computed ones, odd and even degrees apart.
"""

from __future__ import annotations

import math

import numpy as np

from .functions import Array, clamp
from .quadrature import MORE_HERMITE, Quadrature, legendre_panels

_LEVELS, _LEVEL_WEIGHTS = legendre_panels((0.0, 1.0), 20)
_MOST_NODES = 8000
_ENOUGH = 3e-5  # share of E[fg] that may be left to the power law before more coefficients are computed


class PairSeries:
    """The function ρ → E[f(u)g(v)], exact at ρ = 1 and up to rounding for smooth f and g."""

    __slots__ = ("coefficients", "tails", "total")

    def __init__(self, f: Array, g: Array, total: float):
        self.coefficients = f * g
        self.total = total
        rest = total - float(self.coefficients.sum())
        size = math.sqrt(float(f @ f)) * math.sqrt(float(g @ g))
        self.tails: list[tuple[float, Array]] = []
        if abs(rest) > 1e-14 * max(size, abs(total)):
            self._add_tails(rest)

    def _add_tails(self, rest: float) -> None:
        count = self.coefficients.size
        recent = np.abs(self.coefficients[count // 2 :])
        shares = np.array([recent[0::2].sum(), recent[1::2].sum()])
        known = float(shares.sum())
        if known <= 0.0:
            self.tails.append((rest, np.array([float(count)])))
            return
        for parity, share in enumerate(shares / known):
            if share <= 0.0:
                continue
            exponent = 1.0 + math.log2(1.0 + known / abs(rest))
            exponent = min(max(exponent, 1.25), 12.0)
            degrees = (count - 1.0 + parity) * _LEVELS ** (-1.0 / (exponent - 1.0))
            sign = 1.0 if parity == 0 else -1.0
            self.tails.append((float(rest * share), sign * degrees))

    def __call__(self, rho: Array) -> Array:
        flat = clamp(np.asarray(rho, dtype=np.float64).ravel(), -1.0, 1.0)
        powers = np.empty((flat.size, self.coefficients.size))
        powers[:, 0] = 1.0
        powers[:, 1:] = flat[:, None]
        np.multiply.accumulate(powers, axis=1, out=powers)
        result = powers @ self.coefficients
        if self.tails:
            size, sign = np.abs(flat), np.sign(flat)
            for amount, degrees in self.tails:
                one = degrees.size == 1
                spread = size ** degrees[0] if one else size[:, None] ** np.abs(degrees) @ _LEVEL_WEIGHTS
                result += amount * (spread if degrees[0] > 0.0 else sign * spread)
        result = np.where(flat >= 1.0, self.total, result)
        return result.reshape(np.shape(rho))


def pair_series(quadrature: Quadrature, i: int, j: int, total: float) -> PairSeries:
    """The series of two of the integrated functions, with more coefficients where the first are too few."""
    rows = quadrature.hermite()
    f, g = rows[i], rows[j]
    products = quadrature.products()
    left = abs(total - float(f @ g))
    if quadrature.z.size <= _MOST_NODES and left > _ENOUGH * math.sqrt(products[i, i]) * math.sqrt(products[j, j]):
        rows = quadrature.hermite(MORE_HERMITE)
        f, g = rows[i], rows[j]
    return PairSeries(f, g, total)
