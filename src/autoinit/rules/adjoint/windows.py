"""Pooling, interpolation and sliding windows.

Linear maps along axes go back by their transpose. A maximum gives its gradient to one entry of its window: an entry is
that one with chance 1/k, more often if it is large (k F^(k-1) at the quantile F of its law), so a function below knows.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from ...core.backward.law import Law, Own
from ...core.backward.passing import Backward
from ...core.graph.along_axes import maps_of, pooled_axes
from ...core.graph.graph import Node, Value
from ...core.signal.axis_maps import Linear, mapped_along, spread
from ...core.signal.marginal import POINTS
from ...core.signal.profiles import Array
from ...core.signal.signal import Signal
from ...core.signal.window_maximum import Window
from ..registry import RULES
from .registry import adjoint


@adjoint("average_pool", "interpolate", "pad")
def along_axes(node: Node, back: Backward, g: Law) -> None:
    """W^T along each axis."""
    x = back.operand(node, 0)
    assert x is not None
    maps: dict[int, Linear] = {
        axis: spread(w.taps, w.weights, x.shape[axis]) for axis, w in maps_of(node, x.shape).items()
    }
    back.send(node.inputs[0], mapped_along(g.moments, maps))


@adjoint("max_pool")
def max_pool(node: Node, back: Backward, g: Law) -> None:
    x = back.operand(node, 0)
    assert x is not None
    sizes = {}
    for a in pooled_axes(node, x.shape):
        window = Window.sliding(a.axis, a.size, a.stride, a.dilation, a.live)
        overlap = float(np.sum(window.weights * window.shares / (2.0 - window.shares)))
        sizes[a.axis] = (window.size, overlap)
    made = routed(g.moments, x.shape, sizes)
    k = prod(size for size, _ in sizes.values())
    quantile = (np.arange(POINTS) + 0.5) / POINTS
    chance = k * quantile ** (k - 1.0)
    back.send(node.inputs[0], Law(made, Own.of(chance, chance) if x.expr.monotone >= 0 else None))


def routed(g: Signal, shape: tuple[int, ...], windows: dict[int, tuple[float, float]]) -> Signal:
    """Every output's gradient goes to one entry of its window.

    windows: by axis, entries per window, and the mean of J = phi/(2 - phi) over pairs of windows that share a part phi:
    the chance that both go to the same entry. All sums over pairs stay; what meets in one entry is taken off the rest.
    """
    K, profiles = g.K, list(g.profiles)
    for axis, (size, meet) in windows.items():
        n_out, n_in = g.shape[axis], shape[axis]
        pair = np.moveaxis(K, axis, -1)
        same = (n_out * pair[..., 0] + n_out * (n_out - 1.0) * meet * pair[..., 1]) / n_in
        rest = n_out * (n_out - 1.0) * (1.0 - meet) * pair[..., 1]
        if n_in > 1:
            K = np.moveaxis(np.stack([same, rest / (n_in * (n_in - 1.0))], axis=-1), -1, axis)
            K = _one_of(K, axis, size, n_in)
        profiles[axis] = _stretched(profiles[axis], n_in)
    return Signal(shape, 0.0, K, profiles=tuple(profiles))


def _one_of(K: Array, axis: int, size: float, n: int) -> Array:
    """Entries that differ on other axes (two channels, say) go to the same place of this one with chance 1/size."""
    pair = np.array(np.moveaxis(K, axis, -1)).reshape(-1, 2)
    moved = pair[1:, 0] * (1.0 - 1.0 / size)
    pair[1:, 0] -= moved
    pair[1:, 1] += moved / (n - 1.0)
    return np.moveaxis(pair.reshape(K.shape), -1, axis)


def _stretched(p: Array | None, n: int) -> Array | None:
    if p is None:
        return None
    made = p[np.minimum(np.arange(n) * p.size // n, p.size - 1)]
    return np.asarray(made / made.mean()) if made.mean() > 0.0 else None


@adjoint("im2col", "col2im")
def windows_as_columns(node: Node, back: Backward, g: Law) -> None:
    """Each is the other's transpose."""
    ref = node.inputs[0]
    assert ref is not None
    other = "col2im" if node.op == "im2col" else "im2col"
    turned = Node(other, (Value(-1, g.moments.shape),), (Value(-2, ref.shape),), node.attrs)
    made = RULES[other](turned, back.run, Signal(g.moments.shape, 0.0, g.moments.K))
    assert isinstance(made, Signal)
    back.send(ref, replace(g.plain(), moments=Signal(ref.shape, 0.0, made.K)))
