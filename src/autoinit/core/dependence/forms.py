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
from ..graph.canonical.layout import Axis, Digit, Layout, Parts, Repeat, joined, of_base, split
from ..graph.canonical.substitution import along, through
from ..graph.features import labels
from ..graph.graph import Constant, Node, Value
from ..graph.roles import reduced_axes
from ..graph.specs import spec_of
from ..signal import axes as K_axes
from ..signal.axis_maps import Windows, averaged_over
from ..signal.profiles import Array
from ..signal.signal import Signal
from .extreme import slope_of_extreme
from .functions import on_grid
from .stencils import along_maps

if TYPE_CHECKING:
    from .joint import Joint


class Part(NamedTuple):
    """coefficient · (a view of value `view.base`)"""

    coefficient: float
    view: Layout


Form = list[Part] | None
"""None: nobody knows."""
LARGEST_TABLE = 2**16
SMALL = 1e-3
"""Parts of a kernel so small beside the largest are left out."""
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
    numbers = [joint.mean(node, k) for k in range(len(node.inputs))]
    signals = {k: joint.signal(x) for k, x in data}
    law = on_grid(fn, tuple(node.attrs.get("params", ())), [signals.get(k, n) for k, n in enumerate(numbers)])
    return [_operand(node, x, view, law.slope(k)) for k, (_, x) in enumerate(data)]


def _affine(joint: Joint, node: Node, view: Layout) -> Form:
    x = joint.operand(node, 0)
    return [] if x is None else [_operand(node, x, view, joint.mean(node, 1))]


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


def _triangle(joint: Joint, node: Node, view: Layout) -> Form:
    """The share of the places that is kept."""
    x, (rows, columns) = joint.operand(node, 0), node.outputs[0].shape[-2:]
    kept = (np.tril if node.attrs["lower"] else np.triu)(np.ones((rows, columns)), node.attrs.get("diagonal", 0))
    return None if x is None else [_operand(node, x, view, float(kept.mean()))]


def _shuffle(joint: Joint, node: Node, view: Layout) -> Form:
    """Entries that went nobody knows where along an axis: any place of it."""
    x, axes = joint.operand(node, 0), [axis for _, axis, _ in node.attrs.get("moves") or ()]
    return None if x is None or not axes else [_operand(node, x, view, 1.0, *axes)]


def _gather(joint: Joint, node: Node, view: Layout) -> Form:
    """Rows that indices pick are, for whatever does not know the indices, any rows."""
    x, out, axis = joint.operand(node, 0), node.outputs[0], node.attrs["axis"]
    if x is None:
        return []
    if joint.is_placed(x):  # the sum of a group, for each of its members
        return None
    added = len(out.shape) - (len(x.shape) - 1)
    places = [*range(axis), *[None] * added, *range(axis + 1, len(x.shape))]
    return [Part(1.0, along(view, out, x, places))]


def _scatter(joint: Joint, node: Node, view: Layout) -> Form:
    """Sums of rows of a table, picked and placed by known indices: its own row as often as an edge leads back."""
    base, update, places = joint.operand(node, 0), joint.operand(node, 1), node.attrs.get("places")
    picked = None if update is None or places is None else joint.story.producer(update.id)
    if base is None or picked is None or not spec_of(picked.op).picks or node.attrs["kind"] != "sum":
        return None
    x, axis, indices = picked.inputs[0], node.attrs["axis"], picked.inputs[1]
    rows = indices.array() if isinstance(indices, Constant) else None
    if not isinstance(x, Value) or rows is None or x.shape != base.shape or picked.attrs["axis"] != axis:
        return None
    n, counts = base.shape[axis], node.attrs["counts"]
    own = float(np.sum(rows == np.asarray(places))) / n
    other = (rows.size / n - own) / max(n - 1, 1)
    start = 1.0 if node.attrs.get("include_self") else float(np.mean(np.asarray(counts) == 0))
    return [_operand(node, base, view, start), *_mixed(node, view, x, axis, own - other, other * n)]


def _product(joint: Joint, node: Node, view: Layout) -> Form:
    """sum_k a_ik b_kj is n E[b] times the mean of a over k, and the other way round. Of one operand: its sums."""
    operands, out = [joint.operand(node, k) for k in range(len(node.inputs))], node.outputs[0]
    if any(x is None or not x.shape for x in operands) or len(operands) > 2:
        return None
    names, made = labels(node)
    sizes = {c: n for text, x in zip(names, operands, strict=True) if x for c, n in zip(text, x.shape, strict=True)}
    gone = prod(n for c, n in sizes.items() if c not in made)
    parts = []
    for k, (text, x) in enumerate(zip(names, operands, strict=True)):
        if x is None or len(set(text)) < len(text):
            return None
        others = prod(joint.mean(node, j) for j in range(len(operands)) if j != k)
        axes = {Axis(out.id, at, n): _whole(x, text.index(c)) if c in text else None
                for at, (c, n) in enumerate(zip(made, out.shape, strict=True)) if n > 1}  # fmt: skip
        parts.append(Part(gone * others, through(view, x.id, axes)))
    return parts


def _whole(x: Value, axis: int) -> Parts | None:
    n = x.shape[axis]
    return (Digit(Axis(x.id, axis, n), 1, n),) if n > 1 else None


def _constant_weight(joint: Joint, node: Node, view: Layout) -> Form:
    """A weight whose values are known, along the last axis."""
    x, w = joint.operand(node, 0), node.inputs[1]
    array = w.array() if isinstance(w, Constant) and prod(w.shape) <= LARGEST_TABLE and len(w.shape) == 2 else None
    if x is None or array is None:
        return None
    maps = {len(x.shape) - 1: Windows.dense(np.asarray(array, float))}
    return [Part(*one) for one in along_maps(node, x, view, maps)]


def _constant_kernel(joint: Joint, node: Node, view: Layout) -> Form:
    """A convolution with a kernel whose values are known, the mean over its channels: a sum of products of maps along
    its axes (singular vectors). Channels by themselves, or all of a group."""
    x, w, a = joint.operand(node, 0), node.inputs[1], node.attrs
    array = w.array() if isinstance(w, Constant) and prod(w.shape) <= LARGEST_TABLE else None
    channel, spatial = a["x_axes"][1], a["x_axes"][2:]
    if x is None or array is None or a.get("transposed") or not 0 < len(spatial) < 3:
        return None
    out, inner = (node.outputs[0].shape[channel], array.shape[a["w_axes"][1]])
    kernel = np.asarray(array, float).transpose(a["w_axes"]).mean(axis=(0, 1)) * inner
    rows, scales, columns = np.linalg.svd(kernel.reshape(kernel.shape[0], -1), full_matrices=False)
    alone = inner == 1 and out == x.shape[channel]
    parts = []
    for u, scale, v in zip(rows.T, scales, columns, strict=True):
        if scale <= SMALL * scales[0]:
            break
        maps = {} if alone else {channel: Windows.dense(np.full((out, x.shape[channel]), 1.0 / x.shape[channel]))}
        for k, (axis, weights) in enumerate(zip(spatial, (scale * u, v), strict=False)):
            taps = np.arange(node.outputs[0].shape[axis])[:, None] * a["stride"][k] - a["padding"][k][0]
            taps = taps + np.arange(weights.size) * a["dilation"][k]
            live = (taps >= 0) & (taps < x.shape[axis])
            maps[axis] = Windows(np.where(live, taps, 0), live * (weights if len(spatial) > 1 else weights * v[0]))
        parts += [Part(*one) for one in along_maps(node, x, view, maps)]
    return parts


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
    "affine": _affine, "scatter": _scatter, "triangle": _triangle, "shuffle": _shuffle, "linear": _constant_weight,
    "conv": _constant_kernel, "gather": _gather, "matmul": _product, "einsum": _product, "attention": _attention,
    "reduce": _reduce, "normalize": _normalize,
    "softmax": _softmax, "cumulative": _cumulative, "max_pool": _max_pool, "unfold": _unfold, "lp_pool": _lp_pool,
    **dict.fromkeys(("average_pool", "interpolate", "pad"), _along_axes),
}  # fmt: skip
