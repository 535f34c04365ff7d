"""Linear maps along axes as sums of views: the linear forms of pooling, interpolation, padding and running means.

Where an output follows the inputs at a steady step (places step · i + o of a circle, or i // r), a map is
sum_o c_o R_o + c̄ mean with a view R_o per offset o and the average weight c_o there; what the few heaviest offsets do
not have is spread evenly. Borders are averaged in. A map without a steady step is known by its mean alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from ..graph.canonical.layout import NONE, Axis, Digit, Fixed, Layout, Parts, Repeat, cut, joined, with_still
from ..graph.canonical.substitution import through
from ..graph.graph import Node, Value
from ..signal.axis_maps import Windows

MOST_OFFSETS = 3
TAPS = ("conv",)
"""Ops whose weights meet several places at once."""


class Shift(NamedTuple):
    """coefficient · the places of an input that an axis of the output goes through; None: their mean."""

    coefficient: float
    parts: Parts | None
    fixed: Fixed = NONE


def along_maps(node: Node, x: Value, view: Layout, maps: Mapping[int, Windows]) -> list[tuple[float, Layout]]:
    """What maps make of x, seen as `view`: coefficients and views of x."""
    out = node.outputs[0]
    made: list[tuple[float, dict[Axis, Parts | None], Fixed]] = [(1.0, {}, NONE)]
    for axis, (n, m) in enumerate(zip(x.shape, out.shape, strict=True)):
        whole: Parts = (Digit(Axis(x.id, axis, n), 1, n),) if n > 1 else ()
        shifts = shifts_of(maps[axis], Axis(x.id, axis, n), whole) if axis in maps else [Shift(1.0, whole)]
        made = [(c * s.coefficient, {**axes, Axis(out.id, axis, m): s.parts} if m > 1 else axes,
                 with_still(fixed, s.fixed)) for c, axes, fixed in made for s in shifts]  # fmt: skip
    return [(c, through(view, x.id, axes, fixed)) for c, axes, fixed in made]


def shifts_of(windows: Windows, axis: Axis, whole: Parts) -> list[Shift]:
    """One map along an axis, `whole`."""
    n = axis.size
    taps, weights = windows.taps, windows.weights
    m, total = len(taps), float(weights.sum()) / max(len(taps), 1)
    even = [Shift(total, None)]
    step = _step(windows)
    repeats = round(1.0 / step) if 0.0 < step < 1.0 else 1
    if n < 2 or m < 2 or step == 0.0 or (repeats > 1 and m != n * repeats):
        return even
    stride = 1 if repeats > 1 else round(step)
    offsets = (taps - (stride * (np.arange(m) // repeats))[:, None]) % n
    mass = np.bincount(offsets.ravel(), weights.ravel(), n) / m
    if n == m * stride > m and np.ptp(mass[:stride]) <= 1e-12 * total and not mass[stride:].any():
        return [Shift(total, joined((Digit(axis, stride, m),)))]  # windows side by side
    kept = np.argsort(-np.abs(mass), kind="stable")[:MOST_OFFSETS]
    rest = (total - float(mass[kept].sum())) / max(n - len(kept), 1)
    made = [Shift(rest * n, None)]
    for offset in kept.tolist():
        parts, fixed = cut(whole, offset, stride, m // repeats)
        parts = joined((*parts, Repeat(repeats))) if repeats > 1 else parts
        made.append(Shift(float(mass[offset]) - rest, parts, fixed))
    return [shift for shift in made if abs(shift.coefficient) > 1e-12 * abs(total)]


def _step(windows: Windows) -> float:
    """By how much the inputs move from one output to the next; 0 where that is not steady."""
    power = np.abs(windows.weights)
    seen = power.sum(axis=1)
    if len(seen) < 2 or not seen.all():
        return 1.0 if len(seen) > 1 else 0.0
    centres = (power * windows.taps).sum(axis=1) / seen
    step = float(np.median(np.diff(centres)))
    if step < 0.75:
        step = float(centres[-1] - centres[0]) / (len(seen) - 1)
    steady = float(round(step)) if step >= 0.75 else 1.0 / round(1.0 / step) if step > 0.0 else 0.0
    beside = centres - steady * np.arange(len(seen))
    return steady if np.mean(np.abs(beside - np.median(beside)) <= 1.0) > 0.5 else 0.0


def taps_of(node: Node, x: Value, view: Layout) -> list[Layout]:
    """A view of what a convolution makes: for each tap of the kernel the view of x that it reads, around a circle; the
    channels of x are one more axis behind the others."""
    a, out = node.attrs, node.outputs[0]
    (_, channel, *spatial), kernel = a["x_axes"], node.inputs[1].shape  # type: ignore[union-attr]
    if a.get("transposed") or any(out.shape[k] > x.shape[k] or out.shape[k] == 1 < x.shape[k] for k in spatial):
        return []
    made = []
    for taps in product(*(range(kernel[k]) for k in a["w_axes"][2:])):
        axes: dict[Axis, Parts | None] = {}
        fixed = NONE
        for k, (n, m) in enumerate(zip(x.shape, out.shape, strict=True)):
            parts: Parts | None = (Digit(Axis(x.id, k, n), 1, n),) if n > 1 else ()
            if k in spatial and parts:
                at = spatial.index(k)
                parts, still = cut(parts, taps[at] * a["dilation"][at] - a["padding"][at][0], a["stride"][at], m)
                fixed = with_still(fixed, still)
            if m > 1:
                axes[Axis(out.id, k, m)] = None if k == channel else parts
        seen, n = through(view, x.id, axes, fixed), x.shape[channel]
        made.append(seen.with_axis(len(seen.axes), (Digit(Axis(x.id, channel, n), 1, n),) if n > 1 else ()))
    return made
