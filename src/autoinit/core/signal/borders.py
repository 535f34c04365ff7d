"""Borders: what zero padding, stride and dilation do to E[x^2] along one axis of a convolution.

For i.i.d. weights E[y^2] at output place h is the sum of E[x^2] over the live taps, axis by axis:

    p'(h) = sum over live taps d of p(index(h, d)),

so an axis is described by its profile p (mean 1), and the mean of p' is the effective number of taps. Two different
places h, h' see the same weights at the same tap, so their moment is the sum over taps that are live at both,
with q = sqrt(p) the amplitude at a place (exact for fully correlated places, and irrelevant for uncorrelated ones).

Weights that are kept are correlated from tap to tap. Two different taps read different inputs at one place; at two
different places they may read the same one (windows that overlap), which is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .axis_maps import apart
from .profiles import Array


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
    """Effective taps of one axis and the `profile` of the output.

    `same`: taps for E[y^2]; `pair`: the same for two different places. Ordered pairs of two different taps: `off` at
    one place; at two different places `off_pair` that read different inputs and `coincide` that read the same.
    """

    same: float
    pair: float
    profile: Array | None
    off: float
    off_pair: float
    coincide: float

    def matrix(self, differ: int) -> Array:
        """(K same, K different) of the input -> that of the output, for equal (0) or different (1) taps."""
        if differ:
            return np.array([[0.0, self.off], [self.coincide, self.off_pair]])
        return np.array([[self.same, 0.0], [0.0, self.pair]])


def live_ranges(t: Taps) -> list[tuple[slice, slice]]:
    """For every tap the output places where it is live and the inputs it reads there.

    input = output * stride + tap * dilation - low; of a transposed convolution the other way round.
    """
    made = []
    near, far = (t.inputs, t.outputs) if t.transposed else (t.outputs, t.inputs)
    for d in range(t.kernel):
        shift = d * t.dilation - t.low
        first = max(0, -(shift // t.stride))
        last = min(near - 1, (far - 1 - shift) // t.stride)
        if last >= first:
            pair = slice(first, last + 1), slice(first * t.stride + shift, last * t.stride + shift + 1, t.stride)
            made.append(pair[::-1] if t.transposed else pair)
    return made


def flat_border(t: Taps) -> Border:
    """The border for an input without a profile."""
    return _border(t, None)


def border(t: Taps, profile: Array | None) -> Border:
    return _border(t, None if profile is None else np.asarray(profile, float).tobytes())


@lru_cache(maxsize=256)
def _border(t: Taps, profile: bytes | None) -> Border:
    p = np.ones(t.inputs) if profile is None else np.frombuffer(profile)
    q = np.sqrt(p)
    n_in, n_out = t.inputs, t.outputs
    places, amplitudes, reads = np.zeros(n_out), np.zeros(n_out), np.zeros(n_in)
    columns = 0.0
    for out, read in live_ranges(t):
        places[out] += p[read]
        amplitudes[out] += q[read]
        reads[read] += 1.0
        columns += float(q[read].sum()) ** 2
    each, rows = float(places.sum()), float(amplitudes @ amplitudes)
    coincide = float(p @ (reads * (reads - 1.0)))
    crossed = float(amplitudes.sum()) ** 2 - rows - columns + each - coincide
    base = apart(q, q) if n_in > 1 else 1.0
    scale = 1.0 / base if base > 0 else 0.0
    pairs = n_out * (n_out - 1)
    same, off = (each / n_out, (rows - each) / n_out * scale) if n_out else (0.0, 0.0)
    if pairs and scale:
        pair, off_pair, coincide = (columns - each) / pairs * scale, crossed / pairs * scale, coincide / pairs
    else:
        pair, off_pair, coincide = same, off, 0.0
    new = places / same if same > 0 and np.ptp(places) > 1e-9 * same else None
    return Border(same, pair, new, off, off_pair, coincide)
