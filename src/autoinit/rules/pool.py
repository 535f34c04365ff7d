"""Pooling over windows: maximum, average, and power means.

Average pooling is linear along each axis (`core.signal.axis_maps`). Maxima come from `window_maximum`. A p-norm pool is
|x|^p, the (exact) window sum, and the p-th root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.gaussian.expression import apply
from ..core.graph.graph import Node
from ..core.signal.axis_maps import mapped_along, windows
from ..core.signal.positive import exponential, is_nonnegative, mapped, sign_of, signed
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.window_maximum import Window, maximum_over
from .registry import Context, rule


class Pooled(NamedTuple):
    """One pooled axis."""

    axis: int
    size: int
    stride: int
    dilation: int
    taps: NDArray[np.int64]
    """(outputs, window): places of the input."""
    live: NDArray[np.bool_]
    """Those that exist."""
    padded: NDArray[np.bool_]
    """Those that exist or are padding: in ceil mode a window may stick out even beyond that."""


def pooled_axes(node: Node, x: Signal) -> list[Pooled]:
    a, made = node.attrs, []
    count, sizes = len(a["axes"]), a["window"]
    strides, padding = a.get("stride") or sizes, a.get("padding") or ((0, 0),) * count
    dilations = a.get("dilation") or (1,) * count
    for axis, size, stride, (low, high), dilation in zip(a["axes"], sizes, strides, padding, dilations, strict=True):
        n = x.shape[axis]
        taps = np.arange(node.outputs[0].shape[axis])[:, None] * stride - low + np.arange(size) * dilation
        live = (taps >= 0) & (taps < n)
        made.append(Pooled(axis, size, stride, dilation, np.where(live, taps, 0), live, taps < n + high))
    return made


@rule("max_pool")
def max_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """The largest live entry of each window (padding never wins): m' = E[max f(u_i)], K'(S) = E[max f(u_i) max f(v_i)].

    One-dimensional integrals over what the entries of a window share. Of two windows with a share phi of their entries
    in common the largest is the same one with chance J = phi / (2 - phi) (`core.signal.window_maximum`).
    """
    axes = pooled_axes(node, x)
    mean, K = maximum_over(x, [Window.sliding(a.axis, a.size, a.stride, a.dilation, a.live) for a in axes])
    profiles = list(x.profiles)
    for a in axes:
        profiles[a.axis] = _through_windows(x.profiles[a.axis], a)
    make = exponential if is_nonnegative(x) else Signal
    return make(node.outputs[0].shape, mean, K, profiles=tuple(profiles))


def _through_windows(profile: Array | None, a: Pooled) -> Array | None:
    """A profile averaged over the live taps of each window, mean 1 again."""
    if profile is None:
        return None
    new = (profile[a.taps] * a.live).sum(axis=1) / np.maximum(a.live.sum(axis=1), 1)
    return np.asarray(new / new.mean(), float) if new.mean() > 0.0 else None


@rule("average_pool")
def average_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """The mean of each window: m' = m, K'(S) = the mean of K over all pairs of places of the two windows.

    Of w entries E[y^2] = K(same)/w + (1 - 1/w) K(other). With `include_pad` the zeros of the border count.
    """
    maps = {}
    for a in pooled_axes(node, x):
        counted = a.padded if node.attrs.get("include_pad", True) else a.live
        maps[a.axis] = windows(a.taps, a.live / np.maximum(counted.sum(axis=1, keepdims=True), 1))
    return signed(mapped_along(x, maps).but(deficiency=x.deficiency), sign_of(x))


@rule("lp_pool")
def lp_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """y = (sum over the window of |x|^p)^(1/p): the function |x|^p, w times its mean over the window, and the root."""
    power, count = float(node.attrs.get("power", 2.0)), float(np.prod(node.attrs["window"]))
    if power == 1.0:
        return average_pool(node, ctx, x).scaled(count)
    return root(average_pool(node, ctx, absolute_power(x, power)).scaled(count), power)


def root(x: Signal, power: float) -> Signal:
    """x^(1/p)"""
    return mapped(x, "sqrt") if power == 2.0 else mapped(x, "power_scalar", params=(1.0 / power,))


def absolute_power(x: Signal, power: float) -> Signal:
    """|x|^p as one more link of the chain of x."""
    if power in (1.0, 2.0):
        return mapped(x, "abs" if power == 1.0 else "square")
    return Signal.function(x.source, apply("pow", apply("abs", x.expr), power))
