"""Signals between -1 and 1 as tanh of Gaussian ones: states of recurrent cells, whose largest is never more than 1.

y = tanh(u) with E[u] = 0 is matched in every K(S): first the variance of u, then its covariances, by tables of
E[tanh(u) tanh(u')], which rises with both.
"""

from __future__ import annotations

import numpy as np

from ..gaussian.expression import X, apply
from ..gaussian.integrals import analyse
from .profiles import Array, Profiles
from .signal import Signal

TANH = apply("tanh", X)
VARIANCES = np.geomspace(1e-4, 1e3, 71)
PLACES = np.sin(np.linspace(-0.5 * np.pi, 0.5 * np.pi, 65))
LITTLE = 0.05
"""A mean of fewer standard deviations is none."""


def squashed(shape: tuple[int, ...], mean: float, K: Array, profiles: Profiles | None = None) -> Signal:
    """The signal of these moments as tanh of a Gaussian; a plain one where that cannot be."""
    second = float(K.flat[0])
    levels = np.array([float(analyse(TANH, 0.0, float(v)).second) for v in VARIANCES])
    if abs(mean) > LITTLE * second**0.5 or not levels[0] < second < levels[-1]:
        return Signal(shape, mean, K, profiles=profiles)
    variance = float(np.exp(np.interp(second, levels, np.log(VARIANCES))))
    pairs = np.asarray(analyse(TANH, 0.0, variance).pair(variance * PLACES), float)
    covariance = np.interp(K - mean * mean, pairs, variance * PLACES)
    covariance.flat[0] = variance
    return Signal.function(Signal(shape, 0.0, covariance, profiles=profiles), TANH, mean=mean, K=K, profiles=profiles)
