"""Broadcasting: leading axes are added, axes of size 1 are stretched; moments stay, by the convention of K."""

from __future__ import annotations

import numpy as np

from .profiles import Array
from .signal import Signal
from .volatility import settled


def aligned(signal: Signal, shape: tuple[int, ...]) -> Signal:
    """`signal` broadcast to `shape` (leading axes added; size-1 axes stretched). Moments stay, by convention."""
    if signal.shape == shape:
        return signal
    missing = len(shape) - signal.ndim
    if missing == 0 and all(n == m or n == 1 for n, m in zip(signal.shape, shape, strict=True)):
        return _stretched(signal, shape)
    return signal.once(("aligned", shape), lambda: _raised(signal, shape, missing))


def _raised(signal: Signal, shape: tuple[int, ...], missing: int) -> Signal:
    if signal.source is not signal:
        return Signal.function(aligned(signal.source, shape), signal.expr)
    if missing < 0:
        return Signal(signal.shape, signal.mean, signal.K)
    K = signal.K
    for _ in range(missing):
        K = np.stack([K, K], axis=0)
    made = Signal((1,) * missing + signal.shape, signal.mean, K, profiles=(None,) * missing + signal.profiles,
                  deficiency=signal.deficiency,
                  volatility=_lifted(signal.volatility, missing))  # fmt: skip
    return _stretched(made, shape)


def _lifted(V: Array | None, missing: int) -> Array | None:
    for _ in range(missing if V is not None else 0):
        assert V is not None
        V = np.stack([V, V], axis=0)
    return V


def _stretched(signal: Signal, shape: tuple[int, ...]) -> Signal:
    if signal.shape == shape:
        return signal
    return signal.once(("stretched", shape), lambda: _wider(signal, shape))


def _wider(signal: Signal, shape: tuple[int, ...]) -> Signal:
    if signal.source is not signal:
        return Signal.function(_stretched(signal.source, shape), signal.expr, mean=signal.mean, K=signal.K)
    profiles = tuple(None if n != m else p for p, n, m in zip(signal.profiles, signal.shape, shape, strict=True))
    return Signal(shape, signal.mean, signal.K, profiles=profiles, live=signal.live, deficiency=signal.deficiency,
                  volatility=settled(signal.volatility, shape), parts=signal.parts)  # fmt: skip
