"""Broadcasting: leading axes are added, axes of size 1 are stretched; moments stay, by the convention of K."""

from __future__ import annotations

import numpy as np

from ..gaussian.expression import X
from .signal import Array, Signal, settle_singletons
from .volatility import settled


def aligned(signal: Signal, shape: tuple[int, ...]) -> Signal:
    """`signal` broadcast to `shape` (leading axes added; size-1 axes stretched). Moments stay, by convention."""
    if signal.shape == shape:
        return signal
    missing = len(shape) - signal.ndim
    if missing == 0 and all(n == m or n == 1 for n, m in zip(signal.shape, shape, strict=True)):
        return _stretched(signal, shape)
    key = ("aligned", shape)
    if key in signal.memo:
        return signal.memo[key]
    if signal.source is not signal:
        made = Signal.function(aligned(signal.source, shape), signal.expr)
    else:
        K = signal.K
        for _ in range(missing):
            K = np.stack([K, K], axis=0)
        made = Signal(signal.shape, signal.mean, signal.K) if missing < 0 else _raw(shape, signal, K, missing)
    signal.memo[key] = made
    return made


def _raw(shape: tuple[int, ...], signal: Signal, K: Array, missing: int) -> Signal:
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
    key = ("stretched", shape)
    if key not in signal.memo:
        if signal.source is not signal:
            made = Signal.function(_stretched(signal.source, shape), signal.expr, mean=signal.mean, K=signal.K)
        else:
            made = Signal.__new__(Signal)
            made.shape = shape
            made._mean, made._K = signal.mean, settle_singletons(signal.K, shape)
            made.profiles = tuple(
                None if n != m else p for p, n, m in zip(signal.profiles, signal.shape, shape, strict=True)
            )
            made.source, made.expr = made, X
            made.live, made.memo, made._problem = signal.live, {}, None
            made.parts = signal.parts
            made._deficiency, made.volatility = signal._deficiency, settled(signal.volatility, shape)
        signal.memo[key] = made
    return signal.memo[key]
