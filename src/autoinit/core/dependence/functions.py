"""Functions of one Gaussian source, and of two that are correlated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..gaussian.activations import FUNCTIONS
from ..gaussian.expression import Expr, X, apply, evaluate
from ..gaussian.functions import clamp
from ..gaussian.integrals import cross_moments
from ..signal.signal import Signal

Array = NDArray[np.float64]


def moment_together(u: Signal, v: Signal) -> Array:
    """E[u_i v_j] of two functions of one source."""
    source = u.source
    if u.expr is X and v.expr is X:
        return source.K
    return cross_moments(u.expr, v.expr, source.mean, source.variance, source.covariance)


@lru_cache(maxsize=1024)
def of_standard(expr: Expr, mean: float, deviation: float) -> Expr:
    """f(mean + deviation z) as a function of a standard normal z."""
    if expr is X:
        return apply("add", apply("mul", X, deviation), mean)
    if not expr.args:
        return expr
    return apply(expr.name, *(of_standard(arg, mean, deviation) for arg in expr.args), params=expr.params)


def covariance_of_functions(f: Signal, g: Signal, sources: Array) -> Array:
    """cov(f(u), g(v)) for covariances of the sources u and v, by Hermite series in their correlation."""
    u, v = f.source, g.source
    spread = sqrt(max(u.variance * v.variance, 0.0))
    if spread <= 0.0:
        return np.zeros_like(sources)
    functions = of_standard(f.expr, u.mean, sqrt(u.variance)), of_standard(g.expr, v.mean, sqrt(v.variance))
    rho = clamp(sources / spread, -1.0, 1.0)
    return cross_moments(*functions, 0.0, 1.0, rho) - cross_moments(*functions, 0.0, 1.0, np.zeros(()))


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class OnGrid(NamedTuple):
    """f(u, v, ...) of independent operands on a Gauss grid; `scores` and `operands` broadcast to `weight`."""

    weight: Array
    scores: Sequence[Array]
    operands: Sequence[Array]
    values: Array

    def mean(self, other: Array | float = 1.0) -> float:
        """E[f g]"""
        return float((self.weight * self.values * other).sum())

    def slope(self, k: int) -> float:
        """cov(f, u_k) / var u_k"""
        u = self.operands[k]
        first, second = float((self.weight * u).sum()), float((self.weight * u * u).sum())
        return (self.mean(u) - self.mean() * first) / max(second - first * first, 1e-300)


def on_grid(fn: str, params: tuple[float, ...], operands: Sequence[Signal | float]) -> OnGrid:
    signals = [s for s in operands if isinstance(s, Signal)]
    scores = np.meshgrid(*[_NODES] * len(signals), indexing="ij", sparse=True)
    weight = np.ones(())
    for _ in signals:
        weight = np.multiply.outer(weight, _WEIGHTS)
    laws = [(s.expr, s.source.mean, np.sqrt(s.source.variance)) for s in signals]
    grids = [evaluate(f, mean + spread * z) for (f, mean, spread), z in zip(laws, scores, strict=True)]
    waiting = iter(grids)
    with np.errstate(all="ignore"):
        args = [next(waiting) if isinstance(s, Signal) else np.float64(s) for s in operands]
        f = np.asarray(FUNCTIONS[fn].fn(*args, *params), float)
    return OnGrid(weight, scores, grids, np.broadcast_to(np.where(np.isfinite(f), f, 0.0), weight.shape))
