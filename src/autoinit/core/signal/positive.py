"""Positive signals as exponentials of Gaussian ones.

A mean of squares, of absolute values or of rectified entries is positive, yet a Gaussian with its moments is
not, and the square roots, logarithms and quotients that follow would have no moments at all. So such a signal
is kept as y = exp(g) with g Gaussian, matched in mean and in every K(S):

    E[y] = exp(mu + c(0)/2) = m,   E[y y'] = exp(2 mu + c(0) + c(S)) = K(S)   =>   c(S) = log(K(S) / m^2),
                                                                                   mu = log m - c(0)/2.

Products, quotients and powers of y are then exact to first order in its fluctuations and finite always.
"""

from __future__ import annotations

import numpy as np

from ..gaussian.expression import X, apply, evaluate
from .axes import settle_singletons
from .profiles import Array, Profiles
from .signal import Signal
from .signal import constant as constant_signal

_GRID = np.linspace(-8.0, 8.0, 257)


def is_nonnegative(signal: Signal) -> bool:
    """Whether f(source) is nowhere negative within eight standard deviations of the source."""
    source = signal.source
    if source is signal and signal.mean < 8.0 * np.sqrt(signal.variance):
        return False
    values = evaluate(signal.expr, source.mean + np.sqrt(source.variance) * _GRID)
    return bool(np.all(values >= 0.0))


def sign_of(signal: Signal) -> int:
    """1 for a signal that is nowhere negative, -1 for one that is nowhere positive, else 0."""
    if signal.mean > 0.0:
        return int(is_nonnegative(signal))
    if signal.mean < 0.0:
        return -int(is_nonnegative(signal.scaled(-1.0)))
    return 0


def signed(signal: Signal, sign: int) -> Signal:
    """The same moments, as a signal that keeps the sign (0: as it is): a sum of decays stays negative."""
    if sign == 0 or signal.mean * sign <= 0.0:
        return signal
    made = exponential(signal.shape, abs(signal.mean), signal.K, profiles=signal.profiles)
    if made.source is made:
        return signal
    return made if sign > 0 else made.scaled(-1.0)


def exponential(shape: tuple[int, ...], mean: float, K: Array, profiles: Profiles | None = None) -> Signal:
    """The positive signal of these moments as exp of a Gaussian; a plain signal where that cannot be."""
    K = settle_singletons(np.asarray(K, float), shape)
    if not mean > 0.0 or not np.all(K > 0.0):
        return Signal(shape, mean, K, profiles=profiles)
    logarithm = np.log(K / (mean * mean))
    if logarithm.flat[0] <= 1e-14:
        return constant_signal(shape, mean)
    # Two entries are never more alike than an entry is to itself; rounding may say otherwise.
    logarithm = np.minimum(logarithm, logarithm.flat[0])
    centre = float(np.log(mean) - 0.5 * logarithm.flat[0])
    source = Signal(shape, centre, logarithm + centre * centre)
    return Signal.function(source, apply("exp", X), mean=mean, K=K, profiles=profiles)


def mapped(signal: Signal, name: str, *, params: tuple[float, ...] = ()) -> Signal:
    """A one-argument table function of the signal, as one more link of its chain."""
    return Signal.function(signal.source, apply(name, signal.expr, params=params))


def shifted(signal: Signal, offset: float) -> Signal:
    """x + offset, keeping the provenance."""
    if offset == 0.0:
        return signal
    mean, K = signal.mean, signal.K
    return Signal.function(
        signal.source,
        apply("add", signal.expr, float(offset)),
        mean=mean + offset,
        K=K + 2.0 * offset * mean + offset * offset,
    )
