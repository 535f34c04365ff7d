"""Borders: what zero padding, stride and dilation do to E[x^2] along one axis of a convolution.

For i.i.d. weights E[y^2] at output place h is the sum of E[x^2] over the live taps, axis by axis:

    p'(h) = sum over live taps d of p(index(h, d)),

so an axis is described by its profile p (mean 1), and the mean of p' is the effective number of taps. Two different
places h, h' see the same weights at the same tap, so their moment is the sum over taps that are live at both,
with q = sqrt(p) the amplitude at a place (exact for fully correlated places, and irrelevant for uncorrelated ones).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .signal import Array


@dataclass(frozen=True, slots=True)
class Taps:
    """One axis of a convolution."""

    inputs: int
    outputs: int
    kernel: int
    stride: int
    dilation: int
    low: int
    """Padding before the first entry."""
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class Border:
    """`same`: effective taps for E[y^2]; `pair`: the same for two different places; `profile` of the output."""

    same: float
    pair: float
    profile: Array | None


def _ranges(t: Taps) -> list[tuple[slice, slice]]:
    """For every tap the output places where it is live and the inputs it reads there."""
    out = []
    for d in range(t.kernel):
        if not t.transposed:  # input index = h * stride + d * dilation - low
            shift = d * t.dilation - t.low
            first = max(0, -(shift // t.stride))
            last = (t.inputs - 1 - shift) // t.stride
            last = min(last, t.outputs - 1)
            if last < first:
                continue
            start = first * t.stride + shift
            out.append((slice(first, last + 1), slice(start, last * t.stride + shift + 1, t.stride)))
        else:  # output index = i * stride + d * dilation - low
            shift = d * t.dilation - t.low
            first = max(0, -(shift // t.stride))
            last = min(t.inputs - 1, (t.outputs - 1 - shift) // t.stride)
            if last < first:
                continue
            start = first * t.stride + shift
            out.append((slice(start, last * t.stride + shift + 1, t.stride), slice(first, last + 1)))
    return out


@lru_cache(maxsize=4096)
def flat_border(t: Taps) -> Border:
    """The border for an input without a profile."""
    return _border(t, np.ones(t.inputs))


def border(t: Taps, profile: Array | None) -> Border:
    return flat_border(t) if profile is None else _border(t, profile)


def _border(t: Taps, p: Array) -> Border:
    q = np.sqrt(p)
    ranges = _ranges(t)
    places = np.zeros(t.outputs)
    pair = 0.0
    for out, read in ranges:
        live = p[read]
        places[out] += live
        pair += float(q[read].sum()) ** 2 - float(live.sum())
    same = float(places.mean()) if t.outputs else 0.0
    n_in, n_out = t.inputs, t.outputs
    base = (float(q.sum()) ** 2 - float(p.sum())) / (n_in * (n_in - 1)) if n_in > 1 else 1.0
    pair = pair / (n_out * (n_out - 1)) / base if n_out > 1 and base > 0 else same
    new = None
    if same > 0 and np.ptp(places) > 1e-9 * same:
        new = places / same
    return Border(same, pair, new)
