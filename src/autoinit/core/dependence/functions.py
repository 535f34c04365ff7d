"""Functions of one Gaussian source, and of two that are correlated."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ..gaussian.expression import Expr, X, apply
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
    rho = np.clip(sources / spread, -1.0, 1.0)
    return cross_moments(*functions, 0.0, 1.0, rho) - cross_moments(*functions, 0.0, 1.0, np.zeros(()))
