"""Pooling over windows: maximum, average, and power means.

Average pooling is linear along each axis, so the matrices of `core.signal.axis_maps` are exact for every stride,
border and overlap. Maxima come from `window_maximum`. A p-norm pool is |x|^p, the (exact) window sum, and the
p-th root.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.gaussian.expression import apply
from ..core.graph.graph import Node
from ..core.signal.axis_maps import transform, window_matrix, window_taps
from ..core.signal.positive import exponential, is_nonnegative, mapped
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.window_maximum import Window, maximum_over
from .registry import Context, rule


def _per_axis(value: Any, count: int, default: int) -> list[int]:
    if value is None:
        return [default] * count
    return [int(value)] * count if isinstance(value, int) else [int(v) for v in value]


class _Geometry:
    """Windows, strides, borders of a pool, per pooled axis."""

    def __init__(self, node: Node, x: Signal) -> None:
        a = node.attrs
        self.axes: tuple[int, ...] = tuple(a["axes"])
        count = len(self.axes)
        self.window = _per_axis(a["window"], count, 1)
        self.stride = [s or w for s, w in zip(_per_axis(a.get("stride"), count, 0), self.window, strict=True)]
        padding: Sequence[tuple[int, int]] = a.get("padding") or ((0, 0),) * count
        self.padding = [(int(lo), int(hi)) for lo, hi in padding]
        self.dilation = _per_axis(a.get("dilation"), count, 1)
        self.shape = node.outputs[0].shape
        self.taps = [
            window_taps(x.shape[axis], self.shape[axis], w, s, lo, d)
            for axis, w, s, (lo, _), d in zip(
                self.axes, self.window, self.stride, self.padding, self.dilation, strict=True
            )
        ]


@rule("max_pool")
def max_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """The largest live entry of each window (padding never wins)."""
    g = _Geometry(node, x)
    windows = [
        Window.sliding(axis, w, s, d, live)
        for axis, w, s, d, (_, live) in zip(g.axes, g.window, g.stride, g.dilation, g.taps, strict=True)
    ]
    mean, K = maximum_over(x, x.expr, windows)
    profiles = list(x.profiles)
    for axis, (taps, live) in zip(g.axes, g.taps, strict=True):
        profiles[axis] = _through_windows(x.profiles[axis], taps, np.where(live, 1.0, 0.0))
    if is_nonnegative(x):
        return exponential(g.shape, mean, K, profiles=tuple(profiles))
    return Signal(g.shape, mean, K, profiles=tuple(profiles))


def _through_windows(profile: Array | None, taps: Any, weights: Array) -> Array | None:
    """A profile averaged over the taps of each window, mean 1 again."""
    if profile is None:
        return None
    total = np.maximum(weights.sum(axis=1), 1e-300)
    new = (profile[taps] * weights).sum(axis=1) / total
    level = float(new.mean())
    return np.asarray(new / level, float) if level > 0.0 else None


@rule("average_pool")
def average_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """The mean of each window; with `include_pad` the zeros of the border are counted."""
    g = _Geometry(node, x)
    return window_means(x, g, bool(node.attrs.get("include_pad", True)))


def window_means(x: Signal, g: _Geometry, include_pad: bool) -> Signal:
    """Means over windows, exactly; remembered as an average of x where the shape allows."""
    K, gain = x.K, 1.0
    profiles = list(x.profiles)
    spans = [1.0] * x.ndim
    for axis, window, (_, high), (taps, live), stride, (low, _) in zip(
        g.axes, g.window, g.padding, g.taps, g.stride, g.padding, strict=True
    ):
        n = x.shape[axis]
        if include_pad:
            # A window may stick out beyond the padding (ceil mode): what lies there is not counted.
            last = np.arange(taps.shape[0]) * stride - low + window
            divisor = window - np.maximum(last - (n + high), 0)
        else:
            divisor = live.sum(axis=1)
        weights = np.where(live, 1.0 / np.maximum(divisor, 1)[:, None], 0.0)
        rho = _likeness(K, axis)
        K = transform(K, axis, window_matrix(taps, live, weights, n))
        gain *= float(weights.sum(axis=1).mean())
        level = _levels(weights, rho)
        incoming = _through_windows(profiles[axis], taps, weights)
        level = level if incoming is None else level * incoming
        profiles[axis] = level / level.mean() if float(np.ptp(level)) > 1e-9 * float(level.mean()) else None
        spans[axis] = float(window)
    return _finished(x, g.shape, x.mean * gain, K, tuple(profiles), tuple(spans))


def _likeness(K: Array, axis: int) -> float:
    """K(different along the axis) / K(same), all other places equal."""
    index = tuple(1 if a == axis else 0 for a in range(K.ndim))
    return float(K[index] / K.flat[0]) if K.flat[0] > 0.0 else 0.0


def _levels(weights: Array, rho: float) -> Array:
    """E[y^2] per output place, up to a factor."""
    squares = (weights**2).sum(axis=1)
    return np.asarray(squares + rho * (weights.sum(axis=1) ** 2 - squares))


def _finished(
    x: Signal,
    shape: tuple[int, ...],
    mean: float,
    K: Array,
    profiles: Any,
    spans: tuple[float, ...],
) -> Signal:
    if max(spans) > 1.0 and mean > 0.0 and is_nonnegative(x):
        made = exponential(shape, mean, K, profiles=profiles)
    else:
        made = Signal(shape, mean, K, profiles=profiles, deficiency=x.deficiency)
    return made


@rule("lp_pool")
def lp_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """(sum over the window of |x|^p)^(1/p)."""
    g = _Geometry(node, x)
    power = float(node.attrs.get("power", 2.0))
    count = float(np.prod(g.window))
    if power == 1.0:
        return window_means(x, g, True).scaled(count)
    powers = absolute_power(x, power)
    total = window_means(powers, g, True).scaled(count)
    return mapped(total, "power_scalar", params=(1.0 / power,)) if power != 2.0 else mapped(total, "sqrt")


def absolute_power(x: Signal, power: float) -> Signal:
    """|x|^p as one more link of the chain of x."""
    if power == 2.0:
        return Signal.function(x.source, apply("square", x.expr))
    magnitude = apply("abs", x.expr)
    return Signal.function(x.source, magnitude if power == 1.0 else apply("pow", magnitude, power))
