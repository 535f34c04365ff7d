"""Pooling over windows: maxima and power means (averages: `resample`).

Maxima come from `window_maximum`. A p-norm pool is |x|^p, the (exact) window sum, and the p-th root.
"""

from __future__ import annotations

import numpy as np

from ..core.gaussian.expression import apply
from ..core.graph.along_axes import pooled_axes
from ..core.graph.graph import Node
from ..core.signal.axis_maps import Windows
from ..core.signal.positive import exponential, is_nonnegative, mapped
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.window_maximum import Window, maximum_over
from .registry import Context, rule
from .resample import along_axes


@rule("max_pool")
def max_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """The largest live entry of each window (padding never wins): m' = E[max f(u_i)], K'(S) = E[max f(u_i) max f(v_i)].

    One-dimensional integrals over what the entries of a window share. Of two windows with a share phi of their entries
    in common the largest is the same one with chance J = phi / (2 - phi) (`core.signal.window_maximum`).
    """
    chained, maps = ctx.relations(node).chained(x)
    if chained is x:
        windows = [Window.sliding(a.axis, a.size, a.stride, a.dilation, a.live) for a in pooled_axes(node, x.shape)]
    else:
        x, windows = chained, [Window.of(axis, w.taps, w.weights > 0.0) for axis, w in maps.items()]
    mean, K = maximum_over(x, windows)
    profiles = list(x.profiles)
    for axis, w in maps.items():
        profiles[axis] = _through_windows(x.profiles[axis], w)
    make = exponential if is_nonnegative(x) else Signal
    return make(node.outputs[0].shape, mean, K, profiles=tuple(profiles))


def _through_windows(profile: Array | None, w: Windows) -> Array | None:
    """A profile averaged over the live taps of each window, mean 1 again."""
    if profile is None:
        return None
    live = w.weights > 0.0
    new = (profile[w.taps] * live).sum(axis=1) / np.maximum(live.sum(axis=1), 1)
    return np.asarray(new / new.mean(), float) if new.mean() > 0.0 else None


@rule("lp_pool")
def lp_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """y = (sum over the window of |x|^p)^(1/p): the function |x|^p, w times its mean over the window, and the root."""
    power, count = float(node.attrs.get("power", 2.0)), float(np.prod(node.attrs["window"]))
    if power == 1.0:
        return along_axes(node, ctx, x).scaled(count)
    return root(along_axes(node, ctx, absolute_power(x, power)).scaled(count), power)


def root(x: Signal, power: float) -> Signal:
    """x^(1/p)"""
    return mapped(x, "sqrt") if power == 2.0 else mapped(x, "power_scalar", params=(1.0 / power,))


def absolute_power(x: Signal, power: float) -> Signal:
    """|x|^p as one more link of the chain of x."""
    if power in (1.0, 2.0):
        return mapped(x, "abs" if power == 1.0 else "square")
    return Signal.function(x.source, apply("pow", apply("abs", x.expr), power))
