"""Linear forms: what a value is, to first order, in terms of what it was made of.

v = sum_k c_k A_k x_k + rest, with A_k a view or an average and a rest that varies with nothing else. A pointwise f has
c = cov(f, x) / var x (Stein); a product E[y] x + E[x] y; sums, means, norms and dropout are linear themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod, sqrt
from typing import TYPE_CHECKING, NamedTuple

from ..graph.canonical.layout import Axis, Layout, Parts
from ..graph.graph import Node, Value
from ..signal.axis_maps import averaged_over
from .extreme import slope_of_extreme
from .substitution import digit, through

if TYPE_CHECKING:
    from .joint import Joint


class Part(NamedTuple):
    """coefficient · (a view of value `view.base`)"""

    coefficient: float
    view: Layout


Form = list[Part] | None
"""None: nobody knows."""


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


def _elementwise(joint: Joint, node: Node, view: Layout) -> Form:
    fn = node.attrs["fn"]
    data = [(k, ref) for k, ref in enumerate(node.inputs) if isinstance(ref, Value)]
    if fn in ("add", "sub") and len(node.inputs) == 2:
        signs = (1.0, 1.0 if fn == "add" else -1.0)
        return [_operand(node, ref, view, signs[k]) for k, ref in data]
    if fn == "mul" and len(node.inputs) == 2:
        means = [joint.mean(node, k) for k in (0, 1)]
        if any(m is None for m in means):
            return None
        return [_operand(node, ref, view, float(means[1 - k] or 0.0)) for k, ref in data if means[1 - k]]
    if len(data) == 1 and all(ref is None or isinstance(ref, Value) for ref in node.inputs):
        slope = joint.slope(node.outputs[0], data[0][1])
        return None if slope is None else [_operand(node, data[0][1], view, slope)]
    return None


def _same(joint: Joint, node: Node, view: Layout) -> Form:
    x = node.inputs[0]
    return [_operand(node, x, view, 1.0)] if isinstance(x, Value) else []


def _kept_axes(node: Node, operand: Value, gone: set[int], keepdim: bool) -> dict[Axis, Parts | None]:
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


def _reduce(joint: Joint, node: Node, view: Layout) -> Form:
    x, kind = node.inputs[0], node.attrs["kind"]
    if not isinstance(x, Value):
        return []
    gone = {a % max(len(x.shape), 1) for a in node.attrs["axes"]}
    n = prod(x.shape[a] for a in gone)
    axes = _kept_axes(node, x, gone, bool(node.attrs.get("keepdim")))
    if kind in ("mean", "sum"):
        return [Part(1.0 if kind == "mean" else float(n), through(view, x.id, axes))]
    if kind in ("max", "min"):
        slope = slope_of_extreme(joint.signal(x), tuple(sorted(gone)), smallest=kind == "min")
        return None if slope is None else [Part(slope, through(view, x.id, axes))]
    return None


def _normalize(joint: Joint, node: Node, view: Layout) -> Form:
    x, a = node.inputs[0], node.attrs
    if not isinstance(x, Value) or a.get("use_running") or (a.get("groups") or 1) > 1:
        return None
    signal, made = joint.signal(x), joint.signal(node.outputs[0])
    out, axes = node.outputs[0], {k % len(x.shape) for k in a["axes"]}
    level, centre = signal.second, a.get("centre", True)
    if centre:
        level -= float(averaged_over(signal.K, tuple(sorted(axes)), signal.shape).flat[0])
    if level <= 0.0:
        return None
    factor = sqrt(max(made.variance, 0.0) / level)
    parts = [_operand(node, x, view, factor)]
    if centre:
        rest = {Axis(out.id, k, n): None if k in axes else digit(x.id, k, n) for k, n in enumerate(x.shape) if n > 1}
        parts.append(Part(-factor, through(view, x.id, rest)))
    return parts


def _mixed(view: Layout, out: Value, x: Value, axis: int, own: float, average: float) -> list[Part]:
    """own · x + average · (its mean along the axis): all that a map along it does to pairs of places, on average."""
    axes: dict[Axis, Parts | None] = {Axis(out.id, k, n): digit(x.id, k, n) for k, n in enumerate(x.shape) if n > 1}
    here = Axis(out.id, axis, x.shape[axis])
    return [Part(own, through(view, x.id, axes)), Part(average, through(view, x.id, {**axes, here: None}))]


def _softmax(joint: Joint, node: Node, view: Layout) -> Form:
    """d p_i / d x_j = p_i (i = j) - p_i p_j, so that p = n E[p p'] (x - its mean) + rest."""
    x, out = node.inputs[0], node.outputs[0]
    if not isinstance(x, Value) or node.attrs.get("log") or len(x.shape) == 0:
        return None
    axis = node.attrs["axis"] % len(x.shape)
    pair = joint.signal(out).K[tuple(int(a == axis) for a in range(len(x.shape)))]
    slope = x.shape[axis] * float(pair)
    return _mixed(view, out, x, axis, slope, -slope)


def _cumulative(joint: Joint, node: Node, view: Layout) -> Form:
    """Of two places each is as often before the other as behind it: x/2 + (n/2) mean(x)."""
    x = node.inputs[0]
    if not isinstance(x, Value) or node.attrs["kind"] != "sum":
        return None
    axis = node.attrs["axis"] % len(x.shape)
    return _mixed(view, node.outputs[0], x, axis, 0.5, 0.5 * x.shape[axis])


def _max_pool(joint: Joint, node: Node, view: Layout) -> Form:
    x, a = node.inputs[0], node.attrs
    if not isinstance(x, Value) or x.shape != node.outputs[0].shape:
        return None
    slope = slope_of_extreme(joint.signal(x), tuple(a["axes"]), smallest=False, count=prod(a["window"]))
    return None if slope is None else _pool(joint, node, view, slope)


def _pool(joint: Joint, node: Node, view: Layout, slope: float = 1.0) -> Form:
    """Windows as wide as w of an axis that keeps its length: an entry itself is met once in w."""
    x, out, a = node.inputs[0], node.outputs[0], node.attrs
    if not isinstance(x, Value) or x.shape != out.shape:
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


FORMS: Mapping[str, Callable[[Joint, Node, Layout], Form]] = {
    "elementwise": _elementwise,
    "identity": _same,
    "dropout": _same,
    "reduce": _reduce,
    "normalize": _normalize,
    "softmax": _softmax,
    "cumulative": _cumulative,
    "average_pool": _pool,
    "max_pool": _max_pool,
}
