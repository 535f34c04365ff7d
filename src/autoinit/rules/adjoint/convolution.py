"""Convolutions: the input's gradient is a convolution with transposed taps, the weight's a sum over live pairs.

A tap d of the kernel meets the pairs (output place h, input place that d reads there); over them and over the batch

    E[(dL/dW_oid)^2] = sum over n, n' and pairs h, h' of K_g(n n', h h') K_x(n n', h h'),

where both profiles count: per axis sum r and (sum sqrt r)^2 - sum r with r = p_g p_x at the pairs.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ...core.backward.law import Law, Own, times
from ...core.backward.passing import Backward
from ...core.graph.graph import Node, Value
from ...core.signal.axis_maps import levelled
from ...core.signal.borders import Taps, live_ranges
from ...core.signal.marginal import normal_points, points_of
from ...core.signal.profiles import Array
from ...core.signal.signal import Signal
from ..convolution import ConvShape
from .contractions import bias_of, cancelled
from .registry import adjoint

MOST_INPUTS = 64
"""Of an output that sums more entries no single one is known."""
FEW = 32


@adjoint("conv")
def conv(node: Node, back: Backward, g: Law) -> None:
    x, w = back.operand(node, 0), back.operand(node, 1)
    assert x is not None and w is not None
    if back.wants(node.inputs[0]):
        made, y = _to_input(node, x.shape, w, g.moments), back.made(node)
        own = None if g.own is None or y is None else known_of_input(node, x, y, g.own)
        back.send(node.inputs[0], Law(times(made, _cancelled(node, x, g, False)), own))
    if back.wants(node.inputs[1]):
        back.send(node.inputs[1], times(_to_weight(node, x, w.shape, g.moments), _cancelled(node, x, g, True)))
    bias_of(node, back, 2, g.moments, node.attrs["x_axes"][1])


def known_of_input(node: Node, x: Signal, y: Signal, own: Own) -> Own | None:
    """What g knows of an entry u of x, where an output sums n entries only: y given u, on the way through its weight w.

    That counts by w^2, so E[w^4]/E[w^2] = 3: the variance of y is (3 u^2 + n - 1)/(n + 2) of what it is on average.
    """
    plan = ConvShape(node, x)
    n = plan.channels * prod(_participating(taps) for taps in plan.along)
    if n > MOST_INPUTS or x.variance <= 0.0 or y.variance <= 0.0:
        return None
    around = np.square(points_of(x) - x.mean) / x.variance
    variance = y.variance * (3.0 * around + n - 1.0) / (n + 2.0)
    places = points_of(y)
    order, z = np.argsort(places, kind="stable"), normal_points().reshape(FEW, -1).mean(axis=1)
    at = y.mean + np.multiply.outer(np.sqrt(variance), z / z.std())
    squares, amplitudes = (np.interp(at, places[order], k[order]).mean(axis=1) for k in (own.squares, own.amplitudes))
    return Own.of(squares, amplitudes)


def _cancelled(node: Node, x: Signal, g: Law, weight: bool) -> float:
    if not g.divided:
        return 1.0
    plan = ConvShape(node, x)
    return cancelled(g.divided, plan.channels * prod(_participating(taps) for taps in plan.along), weight)


def _participating(taps: Taps) -> float:
    """Taps that count: (sum a)^2 / sum a^2, tap d being live at a_d places."""
    live = np.array([out.stop - out.start for out, _ in live_ranges(taps)], float)
    return float(live.sum() ** 2 / (live @ live)) if live.size else 1.0


def _to_input(node: Node, shape: tuple[int, ...], w: Signal, g: Signal) -> Signal:
    """The forward rule of the convolution that goes the other way."""
    a = node.attrs
    out, inner, *spatial = a["w_axes"]
    turned = {**a, "transposed": not a.get("transposed", False), "w_axes": (inner, out, *spatial)}
    other = Node("conv", (Value(-1, g.shape), node.inputs[1]), (Value(-2, shape),), turned)
    made = ConvShape(other, g).through(g, w)
    return Signal(shape, 0.0, made.K, profiles=made.profiles)


def _to_weight(node: Node, x: Signal, shape: tuple[int, ...], g: Signal) -> Signal:
    a = node.attrs
    batch, channel, *spatial = a["x_axes"]
    w_out, w_in, *w_spatial = a["w_axes"]
    order = [channel, *([] if batch is None else [batch]), *spatial]
    K_x, K_g = _levelled(x, spatial).transpose(order), _levelled(g, spatial).transpose(order)
    table = np.einsum("i...,o...->oi...", K_x, K_g)
    if batch is not None:
        n = x.shape[batch]
        table = np.einsum("oib...,b->oi...", table, np.array([n, n * (n - 1.0)]))
    for k, axis in enumerate(spatial):
        taps = Taps(x.shape[axis], g.shape[axis], shape[w_spatial[k]], a["stride"][k], a["dilation"][k],
                    a["padding"][k][0], bool(a.get("transposed", False)))  # fmt: skip
        counts = _live_pairs(taps, g.profiles[axis], x.profiles[axis])
        table = np.tensordot(np.moveaxis(table, 2, -1), counts, axes=([-1], [0]))
    K = table
    for _ in w_spatial:  # two different taps meet about the same pairs, of other places
        K = np.stack([K, np.zeros_like(K)], axis=-1)
    made = np.moveaxis(K, range(K.ndim), (w_out, w_in, *w_spatial))
    return Signal(shape, 0.0, made)


def _levelled(x: Signal, axes: list[int]) -> Array:
    K = x.K
    for axis in axes:
        p = x.profiles[axis]
        K = K if p is None else levelled(K, axis, p)
    return K


def _live_pairs(taps: Taps, p_g: Array | None, p_x: Array | None) -> Array:
    """(same place, different places): pairs that one tap meets, on average over the taps."""
    g = np.ones(taps.outputs) if p_g is None else p_g
    x = np.ones(taps.inputs) if p_x is None else p_x
    same = other = 0.0
    for out, read in live_ranges(taps):
        r = g[out] * x[read]
        total = float(r.sum())
        same += total
        other += max(float(np.sqrt(r).sum()) ** 2 - total, 0.0)
    return np.array([same, other]) / taps.kernel
