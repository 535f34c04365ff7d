"""Axes that were merged, remembered.

A reshape that merges (batch, tokens) into rows loses, in the moments of the merged axis, that rows of one sample are
more alike than rows of two. So the coarse signal remembers the *fine* one, whose axes it merged, and a later split
takes it up again. Ops in between work on both: what holds for the coarse axes holds for their refinement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import axes as K_axes
from .signal import Array, Signal

MOST_AXES = 10

Groups = list[tuple[int, ...]]


def remember(coarse: Signal, fine: Signal, lengths: Sequence[int]) -> None:
    """`coarse` merges axes of `fine`, `lengths` of them at a time."""
    kept = Signal(fine.shape, fine.mean, fine.K, profiles=fine.profiles)
    groups, at = [], 0
    for length in lengths:
        groups.append(tuple(range(at, at + length)))
        at += length
    kept.memo["groups"] = groups  # type: ignore[assignment]
    coarse.memo["fine"] = kept


def fine_of(signal: Signal) -> tuple[Signal, Groups] | None:
    """The fine signal and, for each axis, the fine axes that it merges."""
    found = signal.memo.get("fine")
    if found is None and signal.source is not signal and "fine" in signal.source.memo:
        inner = signal.source.memo["fine"]
        found = Signal.function(Signal(inner.shape, inner.mean, inner.K, profiles=inner.profiles), signal.expr)
        found.memo["groups"] = inner.memo["groups"]
        signal.memo["fine"] = found
    return None if found is None else (found, found.memo["groups"])  # type: ignore[return-value]


def merged(K: Array, shape: Sequence[int], lengths: Sequence[int]) -> Array:
    """The moments after merging axes, `lengths` of them at a time."""
    at = 0
    for axis, length in enumerate(lengths):
        K = K_axes.merge(K, axis, shape[at : at + length])
        at += length
    return K


def refined(made: Signal, x: Signal, op: Callable[[Signal, Groups], tuple[float, Array]]) -> Signal:
    """`made` = op(x), worked out for the fine signal of x too: (mean, K) over its axes, of the same shape."""
    found = fine_of(x)
    if found is None:
        return made
    fine, groups = found
    mean, K = op(fine, groups)
    per_axis = [len(g) for g in groups]
    better = Signal(made.shape, made.mean, merged(K, fine.shape, per_axis), profiles=made.profiles,
                    deficiency=made.deficiency, volatility=made.volatility)  # fmt: skip
    remember(better, Signal(fine.shape, mean, K), per_axis)
    return better
