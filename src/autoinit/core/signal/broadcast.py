"""Broadcasting: leading axes are added, axes of size 1 are stretched; moments stay, by the convention of K."""

from __future__ import annotations

from .axis_maps import placed
from .signal import Signal
from .volatility import settled


def aligned(signal: Signal, shape: tuple[int, ...]) -> Signal:
    """`signal` broadcast to `shape` (leading axes added; size-1 axes stretched)."""
    if signal.shape == shape or len(shape) < signal.ndim:
        return signal
    return signal.once(("aligned", shape), lambda: _aligned(signal, shape))


def _aligned(signal: Signal, shape: tuple[int, ...]) -> Signal:
    ndim, missing = len(shape), len(shape) - signal.ndim
    K = placed(signal.K, range(missing, ndim), ndim)
    if signal.source is not signal:
        return Signal.function(aligned(signal.source, shape), signal.expr, mean=signal.mean, K=K)
    V = None if signal.volatility is None else placed(signal.volatility, range(missing, ndim), ndim)
    kept = [p if n == m else None for p, n, m in zip(signal.profiles, signal.shape, shape[missing:], strict=True)]
    profiles = (None,) * missing + tuple(kept)
    return Signal(shape, signal.mean, K, profiles=profiles, live=signal.live, deficiency=signal.deficiency,
                  volatility=settled(V, shape), parts=signal.parts)  # fmt: skip
