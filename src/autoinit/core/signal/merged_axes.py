"""Axes that were merged, remembered.

A reshape that merges (batch, tokens) into rows loses, in the moments of the merged axis, that rows of one sample are
more alike than rows of two. So the coarse signal remembers the *fine* one, whose axes it merged, and a later split
takes it up again. Ops in between work on both: what holds for the coarse axes holds for their refinement.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import axes as K_axes
from .profiles import Array
from .signal import Fine, Signal

MOST_AXES = 10


def finely(coarse: Signal, fine: Signal, lengths: Sequence[int]) -> Signal:
    """`coarse`, which merges axes of `fine`, `lengths` of them at a time."""
    kept = Signal(fine.shape, fine.mean, fine.K, profiles=fine.profiles)
    groups, at = [], 0
    for length in lengths:
        groups.append(tuple(range(at, at + length)))
        at += length
    return coarse.but(fine=Fine(kept, groups))


def fine_of(signal: Signal) -> Fine | None:
    """The fine signal and, for each axis, the fine axes that it merges."""
    inner = signal.source.fine
    if signal.fine is not None or signal.source is signal or inner is None:
        return signal.fine
    return signal.once("fine", lambda: Fine(Signal.function(inner.signal.but(), signal.expr), inner.groups))


def merged(K: Array, shape: Sequence[int], lengths: Sequence[int]) -> Array:
    """The moments after merging axes, `lengths` of them at a time."""
    at = 0
    for axis, length in enumerate(lengths):
        K = K_axes.merge(K, axis, shape[at : at + length])
        at += length
    return K
