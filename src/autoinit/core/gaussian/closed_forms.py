"""Closed Gaussian moments of the smooth functions whose integral a quadrature would find late, or not at all.

With E[f(u)f(v)] as a function of the covariance c of u and v, E f² is its value at c = var.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .functions import Array


class ClosedForm(Protocol):
    """Moments of f(u), u ~ N(mean, std²): not finite where the closed form is not usable."""

    def moments(self, mean: float, std: float, /) -> tuple[float, float]:
        """(E f, E f²)."""

    def pair(self, mean: float, var: float, cov: Array, /) -> Array:
        """E[f(u)f(v)] at every covariance."""


@dataclass(frozen=True)
class Formula:
    """E f of mean and variance, and E[f(u)f(v)] of mean, variance and covariance, as they are in books."""

    first: Callable[[float, float], float]
    pair: Callable[[float, float, Array], Array]

    def moments(self, mean: float, std: float, /) -> tuple[float, float]:
        var = std * std
        return self.first(mean, var), float(self.pair(mean, var, np.asarray(var)))


@dataclass(frozen=True)
class Exponentials:
    """f(x) = Σ c_k e^{r_k x}, the terms being (c_k, r_k); the rates of sines are imaginary.

    E f = f(m) + Σ c_k e^{r_k m} (e^{r_k² v/2} − 1) and
    E[f(u)f(v)] = (E f)² + Σ c_j c_k e^{(r_j + r_k) m + (r_j² + r_k²) v/2} (e^{r_j r_k c} − 1):
    small variances keep their digits.
    """

    fn: Callable[..., Any]
    terms: tuple[tuple[complex, complex], ...]

    def moments(self, mean: float, std: float, /) -> tuple[float, float]:
        var = std * std
        return self._first(mean, var), float(self.pair(mean, var, np.asarray(var)))

    def _first(self, m: float, v: float) -> float:
        return float(self.fn(m)) + sum(float((c * _rise(r * m, 0.5 * r * r * v)).real) for c, r in self.terms)

    def pair(self, mean: float, var: float, cov: Array, /) -> Array:
        total = np.full(np.shape(cov), self._first(mean, var) ** 2)
        for c, r in self.terms:
            for d, s in self.terms:
                total += (c * d * _rise((r + s) * mean + 0.5 * (r * r + s * s) * var, r * s * cov)).real
        return total


def _rise(a: complex, b: Any) -> Any:
    """e^{a+b} − e^a for real b."""
    b = np.real(b)
    return np.where(np.abs(b) < 1.0, np.exp(a) * np.expm1(np.clip(b, -1.0, 1.0)), np.exp(a + b) - np.exp(a))


def _erf_pair(mean: float, var: float, cov: Array) -> Array:
    """(2/π) asin(2c / (1+2v)), as an arctangent: 1 minus its argument is known without cancellation."""
    low, high = 1.0 + 2.0 * (var - cov), 1.0 + 2.0 * (var + cov)
    return np.asarray(np.arctan2(2.0 * cov, np.sqrt(low * high)) * 2.0 / math.pi) + (math.nan if mean else 0.0)


def _gelu_pair(mean: float, var: float, cov: Array) -> Array:
    """c E[ΦΦ] + (v² + c²(1−v)/(1+v)) E[φφ]."""
    root = np.sqrt((1.0 + var - cov) * (1.0 + var + cov))
    both = 0.25 + np.arctan2(cov, root) / (2.0 * math.pi)
    bump = 1.0 / (2.0 * math.pi * root)
    made = cov * both + (var * var + cov * cov * (1.0 - var) / (1.0 + var)) * bump
    return np.asarray(made) + (math.nan if mean else 0.0)


SQUARE = Formula(
    lambda m, v: m * m + v,
    lambda m, v, c: np.asarray((m * m + v) ** 2 + 2.0 * c * c + 4.0 * m * m * c),
)
ERF = Formula(lambda m, v: 0.0, _erf_pair)
"""For a mean of 0, and not a number otherwise."""
GELU = Formula(lambda m, v: v / math.sqrt(2.0 * math.pi * (1.0 + v)), _gelu_pair)
"""For a mean of 0, and not a number otherwise."""
