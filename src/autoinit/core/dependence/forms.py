"""Linear forms: what a value is, to first order, in terms of what it was made of.

v = sum_k c_k A_k x_k + rest, with A_k a view or an average and a rest that varies with nothing else. A pointwise f has
c = cov(f, x) / var x (Stein); a product E[y] x + E[x] y; sums, means, norms and dropout are linear themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..graph.along_axes import maps_of
from ..graph.canonical.layout import Axis, Digit, Layout, Repeat, joined, of_base, split
from ..graph.canonical.substitution import along, through
from ..graph.graph import Node, Value
from ..graph.roles import reduced_axes
from ..signal import axes as K_axes
from ..signal.axis_maps import Windows, averaged_over
from ..signal.profiles import Array
from ..signal.signal import Signal
from .extreme import slope_of_extreme
from .stencils import along_maps

if TYPE_CHECKING:
    from .joint import Joint


class Part(NamedTuple):
    """coefficient · (a view of value `view.base`)"""

    coefficient: float
    view: Layout


Form = list[Part] | None
"""None: nobody knows."""
FAR = 3.0
"""A divisor whose mean is fewer standard deviations from zero has no linear form."""


def _operand(node: Node, x: Value, view: Layout, coefficient: float, *averaged: int) -> Part:
    """An operand that is broadcast to the output; over some of its axes it is averaged."""
    out = node.outputs[0]
    missing = len(out.shape) - len(x.shape)
    places = [None if k in averaged or k < missing else k - missing for k in range(len(out.shape))]
    return Part(coefficient, along(view, out, x, places))


def _elementwise(joint: Joint, node: Node, view: Layout) -> Form:
    fn = node.attrs["fn"]
    data = joint.data(node)
    if fn in ("add", "sub") and len(node.inputs) == 2:
        signs = (1.0, 1.0 if fn == "add" else -1.0)
        return [_operand(node, x, view, signs[k]) for k, x in data]
    if fn == "mul" and len(node.inputs) == 2:
        means = [joint.mean(node, k) for k in (0, 1)]
        return [_operand(node, x, view, means[1 - k]) for k, x in data if means[1 - k]]
    if fn == "where":
        return _where(joint, node, view)
    if fn == "div" and len(data) == 2:
        return _quotient(joint, node, view)
    if len(data) == 1:
        slope = joint.slope(node.outputs[0], data[0][1])
        return None if slope is None else [_operand(node, data[0][1], view, slope)]
    return None


def _quotient(joint: Joint, node: Node, view: Layout) -> Form:
    """u / v = u / m - m_u v / m^2 + ... of a divisor that stays away from zero."""
    (_, u), (_, v) = joint.data(node)
    of = joint.signal(v)
    if of.variance * FAR**2 > of.mean**2:
        return None
    inverse = (1.0 + of.variance / of.mean**2) / of.mean
    return [_operand(node, u, view, inverse), _operand(node, v, view, -joint.signal(u).mean / of.mean**2)]


def _where(joint: Joint, node: Node, view: Layout) -> Form:
    """A condition that does not depend on what it chooses is a chance."""
    chance = min(max(joint.mean(node, 0), 0.0), 1.0)
    chosen = [(chance, joint.operand(node, 1)), (1.0 - chance, joint.operand(node, 2))]
    return [_operand(node, x, view, share) for share, x in chosen if x is not None]


def _masked(joint: Joint, node: Node, view: Layout) -> Form:
    x = joint.operand(node, 0)
    return None if x is None else [_operand(node, x, view, 1.0 - min(max(joint.mean(node, 1), 0.0), 1.0))]


def _same(joint: Joint, node: Node, view: Layout) -> Form:
    x = joint.operand(node, 0)
    return [] if x is None else [_operand(node, x, view, 1.0)]


def _gather(joint: Joint, node: Node, view: Layout) -> Form:
    """Rows that indices pick are, for whatever does not know the indices, any rows."""
    x, out, axis = joint.operand(node, 0), node.outputs[0], node.attrs["axis"]
    if x is None:
        return []
    added = len(out.shape) - (len(x.shape) - 1)
    places = [*range(axis), *[None] * added, *range(axis + 1, len(x.shape))]
    return [Part(1.0, along(view, out, x, places))]


def _matmul(joint: Joint, node: Node, view: Layout) -> Form:
    """sum_k a_ik b_kj is n E[b] times the mean of a over k, and the other way round."""
    a, b, rank = joint.operand(node, 0), joint.operand(node, 1), len(node.outputs[0].shape)
    if a is None or b is None or len(a.shape) < 2 or len(b.shape) < 2 or max(len(a.shape), len(b.shape)) != rank:
        return None
    n = a.shape[-1]
    return [_operand(node, a, view, n * joint.mean(node, 1), rank - 1),
            _operand(node, b, view, n * joint.mean(node, 0), rank - 2)]  # fmt: skip


def _attention(joint: Joint, node: Node, view: Layout) -> Form:
    """Weights that add up to one: whoever does not know them sees the mean of the values."""
    v, rank = joint.operand(node, 2), len(node.outputs[0].shape)
    return None if v is None or len(v.shape) != rank else [_operand(node, v, view, 1.0, rank - 2)]


def before_reduction(node: Node, view: Layout, x: Value) -> Layout:
    """A view of what a reduction gives, as one of x in the shape of what it is given."""
    gone, keep = reduced_axes(node), node.attrs.get("keepdim")
    places = [None if k in gone else k for k in range(len(x.shape)) if keep or k not in gone]
    return along(view, node.outputs[0], x, places)


def _reduce(joint: Joint, node: Node, view: Layout) -> Form:
    x, kind = joint.operand(node, 0), node.attrs["kind"]
    if x is None:
        return []
    gone = reduced_axes(node)
    slope: float | None = None
    if kind in ("mean", "sum"):
        slope = 1.0 if kind == "mean" else float(prod(x.shape[a] for a in gone))
    elif kind in ("max", "min"):
        slope = slope_of_extreme(joint.signal(x), tuple(sorted(gone)), smallest=kind == "min")
    elif kind == "logsumexp":
        slope = 1.0
    elif kind in ("var", "std") or (kind == "norm" and node.attrs.get("power") in (None, 2.0)):
        made = joint.signal(node.outputs[0])
        x = joint.square(x, 0.0 if kind == "norm" else joint.signal(x).mean)
        slope = _of_mean_square(made, joint.signal(x).mean, root=kind != "var")
    return None if slope is None else [Part(slope, before_reduction(node, view, x))]


def _of_mean_square(y: Signal, square: float, root: bool) -> float | None:
    """c of y = c (mean s of squares) + ..., for y = a s or sqrt(a s): E[y] / E[s], half of it of a root."""
    return (0.5 if root else 1.0) * y.mean / square if square > 0.0 else None


def _normalize(joint: Joint, node: Node, view: Layout) -> Form:
    x, a = joint.operand(node, 0), node.attrs
    if x is None:
        return []
    out = node.outputs[0]
    signal, made = joint.signal(x), joint.signal(out)
    if a.get("use_running"):
        return [_operand(node, x, view, sqrt(max(made.variance, 0.0) / signal.variance))] if signal.variance else []
    axes, groups = {k % len(x.shape) for k in a["axes"]}, int(a.get("groups") or 0)
    channel = a["channel_axes"][0] if groups else -1

    def averaged(table: Array) -> float:
        """Over the places of one statistic."""
        shape, over = signal.shape, sorted(axes)
        if groups:
            table = K_axes.split(table, channel, 2)
            shape = (*shape[:channel], groups, shape[channel] // groups, *shape[channel + 1 :])
            over = [channel + 1, *(k + (k > channel) for k in over)]
        return float(averaged_over(table, over, shape).flat[0])

    level, centre = signal.second, a.get("centre", True)
    if centre:
        level -= averaged(signal.K)
    if level <= 0.0:
        return None
    factor = sqrt(max(made.variance, 0.0) / level) * _root_of_statistic(signal, averaged)
    parts = [_operand(node, x, view, factor)]
    if centre:
        kept = list(of_base(x.id, x.shape).axes)
        if groups and x.shape[channel] > 1:
            high, low = split(kept[channel][0], x.shape[channel] // groups)
            kept[channel] = joined((high, Repeat(low.size)))
        mean = {Axis(out.id, k, n): None if k in axes else kept[k] for k, n in enumerate(x.shape) if n > 1}
        parts.append(Part(-factor, through(view, x.id, mean)))
    return parts


def _root_of_statistic(x: Signal, averaged: Callable[[Array], float]) -> float:
    """E[sqrt s] / sqrt(E s) of the mean square s over axes, as of a log-normal s: what E[x x / sqrt s] falls short by.

    s scatters as that of Gaussian entries does, and with the variances that they share (volatility)."""
    C = x.covariance
    scatter = 2.0 * averaged(C * C + 2.0 * x.mean**2 * C) / x.second**2
    if x.volatility is not None:
        scatter += max(averaged(x.volatility), 0.0)
    return float((1.0 + scatter) ** -0.125)


def _mixed(node: Node, view: Layout, x: Value, axis: int, own: float, average: float) -> list[Part]:
    """own · x + average · (its mean along the axis): all that a map along it does to pairs of places, on average."""
    return [_operand(node, x, view, own), _operand(node, x, view, average, axis)]


def _softmax(joint: Joint, node: Node, view: Layout) -> Form:
    """d p_i / d x_j = p_i (i = j) - p_i p_j, so that p = n E[p p'] (x - its mean) + rest; of log p, (i = j) - p_j."""
    x, out = joint.operand(node, 0), node.outputs[0]
    if x is None or len(x.shape) == 0:
        return None
    axis = node.attrs["axis"] % len(x.shape)
    if node.attrs.get("log"):
        return _mixed(node, view, x, axis, 1.0, -1.0)
    pair = joint.signal(out).K[tuple(int(a == axis) for a in range(len(x.shape)))]
    slope = x.shape[axis] * float(pair)
    return _mixed(node, view, x, axis, slope, -slope)


def _cumulative(joint: Joint, node: Node, view: Layout) -> Form:
    """A sum: of two places each is as often before the other as behind it. The extreme of k entries is each of them
    with chance 1/k, so that on average an entry is that of its own place with chance H_n / n."""
    x, kind = joint.operand(node, 0), node.attrs["kind"]
    if x is None or kind == "prod":
        return None
    axis = node.attrs["axis"] % len(x.shape)
    n = x.shape[axis]
    if kind == "sum":
        own = -0.5 if node.attrs.get("remaining") else 0.5
        return _mixed(node, view, x, axis, own, 0.5 * n)
    slope = slope_of_extreme(joint.signal(x), (axis,), smallest=kind == "min", count=max(n // 2, 2))
    if slope is None or n < 2:
        return None
    same = float(np.mean(1.0 / np.arange(1, n + 1)))
    other = (1.0 - same) / (n - 1)
    return _mixed(node, view, x, axis, slope * (same - other), slope * other * n)


def _along_axes(joint: Joint, node: Node, view: Layout) -> Form:
    x = joint.operand(node, 0)
    return None if x is None else [Part(*one) for one in along_maps(node, x, view, maps_of(node, x.shape))]


def _max_pool(joint: Joint, node: Node, view: Layout) -> Form:
    x, a = joint.operand(node, 0), node.attrs
    if x is None:
        return None
    slope = slope_of_extreme(joint.signal(x), tuple(a["axes"]), smallest=False, count=prod(a["window"]))
    form = _along_axes(joint, node, view)
    return None if slope is None or form is None else [Part(slope * c, place) for c, place in form]


def _lp_pool(joint: Joint, node: Node, view: Layout) -> Form:
    """The root of a mean of squares."""
    x, power = joint.operand(node, 0), float(node.attrs.get("power", 2.0))
    if x is None or power != 2.0:
        return None
    square = joint.square(x)
    slope = _of_mean_square(joint.signal(node.outputs[0]), joint.signal(square).mean, root=True)
    maps = maps_of(node, x.shape)
    return None if slope is None else [Part(slope * c, at) for c, at in along_maps(node, square, view, maps)]


def _unfold(joint: Joint, node: Node, view: Layout) -> Form:
    """Windows along an axis: any tap of them is, on average, that of a window's mean."""
    x, out, axis = joint.operand(node, 0), node.outputs[0], node.attrs["axis"]
    if x is None:
        return None
    taps = np.arange(out.shape[axis])[:, None] * node.attrs["step"] + np.arange(out.shape[-1])
    inner = Value(out.id, out.shape[:-1])
    seen = through(view, out.id, {Axis(out.id, out_axis, n): None if out_axis == len(inner.shape) else
                                  (Digit(Axis(out.id, out_axis, n), 1, n),)
                                  for out_axis, n in enumerate(out.shape) if n > 1})  # fmt: skip
    windows = Windows(taps, np.full(taps.shape, 1.0 / out.shape[-1]))
    made = replace(node, outputs=(inner,))
    return [Part(*one) for one in along_maps(made, x, seen, {axis: windows})]


FORMS: Mapping[str, Callable[[Joint, Node, Layout], Form]] = {
    "elementwise": _elementwise, "identity": _same, "dropout": _same, "where": _where, "masked_fill": _masked,
    "gather": _gather, "matmul": _matmul, "attention": _attention, "reduce": _reduce, "normalize": _normalize,
    "softmax": _softmax, "cumulative": _cumulative, "max_pool": _max_pool, "unfold": _unfold, "lp_pool": _lp_pool,
    **dict.fromkeys(("average_pool", "interpolate", "pad"), _along_axes),
}  # fmt: skip
