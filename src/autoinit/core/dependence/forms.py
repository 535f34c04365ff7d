"""Linear forms: what a value is, to first order, in terms of what it was made of.

v = sum_k c_k A_k x_k + rest, with A_k a view or an average and a rest that varies with nothing else. A pointwise f has
c = cov(f, x) / var x (Stein); a product E[y] x + E[x] y; sums, means, norms and dropout are linear themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod, sqrt
from typing import NamedTuple

from ..graph.canonical.layout import Axis, Digit, Layout, Parts, Repeat
from ..graph.graph import Node, Value
from ..signal.axis_maps import averaged_over
from .asking import Asking
from .extreme import slope_of_extreme
from .substitution import digit, through


class Part(NamedTuple):
    """coefficient · (a view of value `view.base`)"""

    coefficient: float
    view: Layout


Form = list[Part] | None
"""None: nobody knows."""
FAR = 3.0
"""A divisor whose mean is fewer standard deviations from zero has no linear form."""


def _axes(node: Node, operand: Value) -> dict[Axis, Parts | None]:
    """Operands broadcast to the output's shape."""
    out = node.outputs[0]
    missing = len(out.shape) - len(operand.shape)
    made: dict[Axis, Parts | None] = {}
    for k, n in enumerate(out.shape):
        if n == 1:
            continue
        m = 1 if k < missing else operand.shape[k - missing]
        made[Axis(out.id, k, n)] = None if m == 1 else digit(operand.id, k - missing, m)
    return made


def _operand(node: Node, ref: Value, view: Layout, coefficient: float) -> Part:
    return Part(coefficient, through(view, ref.id, _axes(node, ref)))


def _elementwise(joint: Asking, node: Node, view: Layout) -> Form:
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


def _quotient(joint: Asking, node: Node, view: Layout) -> Form:
    """u / v = u / m - m_u v / m^2 + ... of a divisor that stays away from zero."""
    (_, u), (_, v) = joint.data(node)
    of = joint.signal(v)
    if of.variance * FAR**2 > of.mean**2:
        return None
    inverse = (1.0 + of.variance / of.mean**2) / of.mean
    return [_operand(node, u, view, inverse), _operand(node, v, view, -joint.signal(u).mean / of.mean**2)]


def _where(joint: Asking, node: Node, view: Layout) -> Form:
    """A condition that does not depend on what it chooses is a chance."""
    chance = min(max(joint.mean(node, 0), 0.0), 1.0)
    chosen = [(chance, joint.operand(node, 1)), (1.0 - chance, joint.operand(node, 2))]
    return [_operand(node, x, view, share) for share, x in chosen if x is not None]


def _masked(joint: Asking, node: Node, view: Layout) -> Form:
    x = joint.operand(node, 0)
    return None if x is None else [_operand(node, x, view, 1.0 - min(max(joint.mean(node, 1), 0.0), 1.0))]


def _same(joint: Asking, node: Node, view: Layout) -> Form:
    x = joint.operand(node, 0)
    return [] if x is None else [_operand(node, x, view, 1.0)]


def _gather(joint: Asking, node: Node, view: Layout) -> Form:
    """Rows that indices pick are, for whatever does not know the indices, any rows."""
    x, out, axis = joint.operand(node, 0), node.outputs[0], node.attrs["axis"]
    if x is None:
        return []
    added = len(out.shape) - (len(x.shape) - 1)
    axes: dict[Axis, Parts | None] = {}
    for k, n in enumerate(out.shape):
        own = k if k < axis else k - added + 1
        if n > 1:
            axes[Axis(out.id, k, n)] = None if axis <= k < axis + added else digit(x.id, own, n)
    return [Part(1.0, through(view, x.id, axes))]


def _matmul(joint: Asking, node: Node, view: Layout) -> Form:
    """sum_k a_ik b_kj is n E[b] times the mean of a over k, and the other way round."""
    a, b, out = joint.operand(node, 0), joint.operand(node, 1), node.outputs[0]
    rank = len(out.shape)
    if a is None or b is None or len(a.shape) < 2 or len(b.shape) < 2 or max(len(a.shape), len(b.shape)) != rank:
        return None
    n = a.shape[-1]
    parts = []
    for x, gone, other in ((a, rank - 1, 1), (b, rank - 2, 0)):
        axes = _axes(node, Value(x.id, x.shape))
        axes = {k: None if k.number == gone else v for k, v in axes.items()}
        parts.append(Part(n * joint.mean(node, other), through(view, x.id, axes)))
    return parts


def _attention(joint: Asking, node: Node, view: Layout) -> Form:
    """Weights that add up to one: whoever does not know them sees the mean of the values."""
    v, out = joint.operand(node, 2), node.outputs[0]
    if v is None or len(v.shape) != len(out.shape):
        return None
    axes = {k: None if k.number == len(out.shape) - 2 else parts for k, parts in _axes(node, v).items()}
    return [Part(1.0, through(view, v.id, axes))]


def kept_axes(node: Node, operand: Value, gone: set[int], keepdim: bool) -> dict[Axis, Parts | None]:
    made: dict[Axis, Parts | None] = {}
    at = 0
    for k, n in enumerate(operand.shape):
        if k in gone:
            at += keepdim
            continue
        if n > 1:
            made[Axis(node.outputs[0].id, at, n)] = digit(operand.id, k, n)
        at += 1
    return made


def _reduce(joint: Asking, node: Node, view: Layout) -> Form:
    x, kind = joint.operand(node, 0), node.attrs["kind"]
    if x is None:
        return []
    gone = {a % max(len(x.shape), 1) for a in node.attrs["axes"]}
    n = prod(x.shape[a] for a in gone)
    axes = kept_axes(node, x, gone, bool(node.attrs.get("keepdim")))
    if kind in ("mean", "sum"):
        return [Part(1.0 if kind == "mean" else float(n), through(view, x.id, axes))]
    if kind in ("max", "min"):
        slope = slope_of_extreme(joint.signal(x), tuple(sorted(gone)), smallest=kind == "min")
        return None if slope is None else [Part(slope, through(view, x.id, axes))]
    return None


def _normalize(joint: Asking, node: Node, view: Layout) -> Form:
    x, a = joint.operand(node, 0), node.attrs
    if x is None:
        return []
    out = node.outputs[0]
    signal, made = joint.signal(x), joint.signal(out)
    if a.get("use_running"):
        return [_operand(node, x, view, sqrt(max(made.variance, 0.0) / signal.variance))] if signal.variance else []
    axes, groups = {k % len(x.shape) for k in a["axes"]}, int(a.get("groups") or 0)
    channel = a["channel_axes"][0] if groups else -1
    level, centre = signal.second, a.get("centre", True)
    if centre:
        level -= float(averaged_over(signal.K, tuple(sorted({*axes, channel} - {-1})), signal.shape).flat[0])
    if level <= 0.0:
        return None
    factor = sqrt(max(made.variance, 0.0) / level)
    parts = [_operand(node, x, view, factor)]
    if centre:
        rest = {Axis(out.id, k, n): None if k in axes else digit(x.id, k, n) for k, n in enumerate(x.shape) if n > 1}
        if groups:
            n = x.shape[channel]
            kept = (Digit(Axis(x.id, channel, n), n // groups, groups),) if groups > 1 else ()
            rest[Axis(out.id, channel, n)] = (*kept, Repeat(n // groups)) if n > groups else kept
        parts.append(Part(-factor, through(view, x.id, rest)))
    return parts


def _mixed(view: Layout, out: Value, x: Value, axis: int, own: float, average: float) -> list[Part]:
    """own · x + average · (its mean along the axis): all that a map along it does to pairs of places, on average."""
    axes: dict[Axis, Parts | None] = {Axis(out.id, k, n): digit(x.id, k, n) for k, n in enumerate(x.shape) if n > 1}
    here = Axis(out.id, axis, x.shape[axis])
    return [Part(own, through(view, x.id, axes)), Part(average, through(view, x.id, {**axes, here: None}))]


def _softmax(joint: Asking, node: Node, view: Layout) -> Form:
    """d p_i / d x_j = p_i (i = j) - p_i p_j, so that p = n E[p p'] (x - its mean) + rest."""
    x, out = joint.operand(node, 0), node.outputs[0]
    if x is None or node.attrs.get("log") or len(x.shape) == 0:
        return None
    axis = node.attrs["axis"] % len(x.shape)
    pair = joint.signal(out).K[tuple(int(a == axis) for a in range(len(x.shape)))]
    slope = x.shape[axis] * float(pair)
    return _mixed(view, out, x, axis, slope, -slope)


def _cumulative(joint: Asking, node: Node, view: Layout) -> Form:
    """Of two places each is as often before the other as behind it: x/2 + (n/2) mean(x), without itself -x/2 + ..."""
    x = joint.operand(node, 0)
    if x is None or node.attrs["kind"] != "sum":
        return None
    axis = node.attrs["axis"] % len(x.shape)
    own = -0.5 if node.attrs.get("remaining") else 0.5
    return _mixed(view, node.outputs[0], x, axis, own, 0.5 * x.shape[axis])


def _max_pool(joint: Asking, node: Node, view: Layout) -> Form:
    x, a = joint.operand(node, 0), node.attrs
    if x is None or x.shape != node.outputs[0].shape:
        return None
    slope = slope_of_extreme(joint.signal(x), tuple(a["axes"]), smallest=False, count=prod(a["window"]))
    return None if slope is None else _pool(joint, node, view, slope)


def _pool(joint: Asking, node: Node, view: Layout, slope: float = 1.0) -> Form:
    """Windows as wide as w of an axis that keeps its length: an entry itself is met once in w."""
    x, out, a = joint.operand(node, 0), node.outputs[0], node.attrs
    if x is None or x.shape != out.shape:
        return None
    parts = [Part(slope, view)]
    value = out
    for axis, window in zip(a["axes"], a["window"], strict=True):
        n = x.shape[axis]
        if n < 2:
            continue
        average = n * (1.0 - 1.0 / min(window, n)) / (n - 1)
        own = 1.0 / min(window, n) - average / n
        parts = [Part(part.coefficient * more.coefficient, more.view) for part in parts
                 for more in _mixed(part.view, value, x, axis, own, average)]  # fmt: skip
        value = x
    return parts if value is x else None


FORMS: Mapping[str, Callable[[Asking, Node, Layout], Form]] = {
    "elementwise": _elementwise,
    "identity": _same,
    "dropout": _same,
    "where": _where,
    "masked_fill": _masked,
    "gather": _gather,
    "matmul": _matmul,
    "attention": _attention,
    "reduce": _reduce,
    "normalize": _normalize,
    "softmax": _softmax,
    "cumulative": _cumulative,
    "average_pool": _pool,
    "max_pool": _max_pool,
}
