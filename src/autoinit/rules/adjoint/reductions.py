"""Reductions over whole axes: the gradient of every entry is that of the result, times the entry's part in it."""

from __future__ import annotations

from math import prod

import numpy as np

from ...core.backward.law import Law, times
from ...core.backward.passing import Backward
from ...core.graph.graph import Node
from ...core.signal.axis_maps import Windows, averaged_over, mapped_along
from ...core.signal.broadcast import aligned
from ...core.signal.masked_softmax import softmax_signal
from ...core.signal.profiles import Array
from ...core.signal.signal import Signal
from ..shape import reshaped
from .registry import adjoint
from .windows import routed

MOST_PLACES = 4096
"""Running sums along longer axes are not worked out place by place."""


@adjoint("reduce")
def reduce(node: Node, back: Backward, g: Law) -> None:
    x, kind = back.operand(node, 0), node.attrs["kind"]
    assert x is not None
    axes = tuple(a % x.ndim for a in node.attrs.get("axes") or range(x.ndim))
    kept = tuple(1 if a in axes else n for a, n in enumerate(x.shape))
    h = reshaped(g.moments, kept)
    whole = Signal(x.shape, 0.0, aligned(h, x.shape).K, profiles=tuple(
        None if a in axes else p for a, p in enumerate(h.profiles)
    ))  # fmt: skip
    n = float(prod(x.shape[a] for a in axes))
    if kind in ("mean", "sum"):
        back.send(node.inputs[0], whole if kind == "sum" else times(whole, 1.0 / n**2))
    elif kind in ("max", "min"):
        outputs = Signal(kept, 0.0, h.K, profiles=h.profiles)
        back.send(node.inputs[0], Law(routed(outputs, x.shape, {a: (x.shape[a], 0.0) for a in axes})))
    elif (part := _part(node, x, kind, axes, n)) is not None:
        back.send(node.inputs[0], times(whole, part))
    elif kind not in ("any", "all"):
        back.pass_on(node, g)


def _part(node: Node, x: Signal, kind: str, axes: tuple[int, ...], n: float) -> Array | None:
    """E[d_i d_j] of the derivatives d of the result by the entries, where they are nearly linear in these."""
    centred = x.K - averaged_over(x.K, axes, x.shape)
    level = float(centred.flat[0])
    if kind in ("var", "std") and level > 0.0:
        gain = 2.0 / max(n - float(node.attrs.get("correction", 1) or 0), 1.0)
        slope = gain if kind == "var" else gain / (2.0 * np.sqrt(level))
        return np.asarray(slope**2 * centred)
    if kind == "norm" and node.attrs.get("power") in (None, 2.0) and x.second > 0.0:
        return np.asarray(x.K / (n * x.second))
    if kind == "logsumexp" and len(axes) == 1:
        return np.asarray(softmax_signal(x, axes[0]).K)
    return None


@adjoint("cumulative")
def cumulative(node: Node, back: Backward, g: Law) -> None:
    """A running sum: every entry gets the sum of the gradients behind it."""
    axis, n = int(node.attrs["axis"]), g.moments.shape[int(node.attrs["axis"])]
    if node.attrs["kind"] != "sum" or n > MOST_PLACES:
        back.pass_on(node, g)
        return
    taken = np.tril(np.ones((n, n)))
    if node.attrs.get("remaining"):
        taken = np.triu(np.ones((n, n)), 1)
    back.send(node.inputs[0], mapped_along(g.moments, {axis: Windows.dense(taken.T)}))
