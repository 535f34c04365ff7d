"""A maximum, to first order, as a multiple of the mean of the entries that it is the maximum of."""

from __future__ import annotations

from math import prod, sqrt

import numpy as np

from ..gaussian.expression import evaluate
from ..signal.signal import Signal

_E = np.linspace(-8.0, 8.0, 1601)
_Z, _W = np.polynomial.hermite_e.hermegauss(24)
_W = _W / _W.sum()


def slope_of_extreme(x: Signal, axes: tuple[int, ...], smallest: bool, count: int | None = None) -> float | None:
    """c with cov(x_i, max) = c cov(x_i, mean) of `count` entries (default: all of the axes); None for functions that
    rise and fall.

    Entries are f(m + sqrt(w) z + sqrt(v - w) e_i), equally correlated. Given z and the largest e, every entry is the
    largest with chance 1/n, else one of those below: E[x_i | max e] = f(e)/n + (1 - 1/n) E[f(e') | e' < e].
    """
    source, n = x.source, count or prod(x.shape[a] for a in axes)
    if n < 2 or source.variance <= 0.0 or x.variance <= 0.0 or source.shape != x.shape:
        return None
    direction = x.expr.monotone
    if direction not in (1, -1):
        return None
    pattern = tuple(1 if a in axes and x.shape[a] > 1 else 0 for a in range(x.ndim))
    within = float(np.clip(source.covariance[pattern], 0.0, source.variance))
    sign = -1.0 if smallest != (direction < 0) else 1.0
    weight = np.exp(-0.5 * _E * _E)
    weight /= weight.sum()
    below = np.cumsum(weight)
    law = np.diff(np.concatenate([[0.0], below**n]))
    levels = source.mean + sqrt(within) * _Z[:, None] + sign * sqrt(source.variance - within) * _E
    f = np.asarray(evaluate(x.expr, levels), float)
    if not np.isfinite(f).all():
        return None
    lower = np.cumsum(f * weight, axis=1) / np.maximum(below, 1e-300)
    entry = f / n + (1.0 - 1.0 / n) * lower
    both = float(_W @ (f * entry @ law))
    covariance = both - float(_W @ (f @ law)) * float(_W @ (entry @ law))
    spread = float(x.covariance.flat[0]) / n + (1.0 - 1.0 / n) * float(x.covariance[pattern])
    return covariance / spread if spread > 0.0 else None
