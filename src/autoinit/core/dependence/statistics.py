"""Values that are a statistic of another one: its mean square, norm or variance over some axes.

x / |x|, x * rsqrt(mean(x^2) + eps) and (x - mean) / sqrt(var + eps), written out by hand, are normalisations: what the
statistic has in common with x must not be lost. The graph tells: functions of one tensor are followed back from the
divisor to a reduction, and what that reduces is compared with x as a view of the same entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, prod, sqrt

import numpy as np

from ..gaussian.expression import evaluate
from ..graph.canonical.layout import Layout, Repeat
from ..graph.canonical.substitution import Lost, along
from ..graph.graph import Node, Value
from ..graph.roles import reduced_axes
from ..graph.specs import spec_of
from ..signal.signal import Signal
from .forms import before_reduction
from .joint import Joint

MULTIPLES = ("mul", "div", "neg")
KINDS = ("mean", "sum", "var", "std", "norm")


@dataclass(frozen=True, slots=True)
class Statistic:
    """`scale` times the mean square of `of` (centred: of its deviations from the mean) over `axes`."""

    of: Signal
    axes: tuple[int, ...]
    centred: bool
    scale: float

    def factor(self, multiplier: Signal, inverse: bool) -> float:
        """h(s) sqrt(s) in the middle of the law of s: what multiplies x / sqrt(s). `inverse`: x is divided by h."""
        middle = multiplier.source.mean
        value = float(np.asarray(evaluate(multiplier.expr, np.array([middle]))).flat[0])
        root = sqrt(exp(middle) / self.scale)
        return root / value if inverse else root * value


def statistic_of(joint: Joint, divisor: Value, x: Value, law: Signal) -> Statistic | None:
    """What `divisor`, whose signal is `law`, is a statistic of, if that is x (centred: what x is the deviation of)."""
    try:
        return _found(joint, divisor, x, law)
    except Lost:
        return None


def _found(joint: Joint, divisor: Value, x: Value, law: Signal) -> Statistic | None:
    node, view = _reduction(joint, joint.view(divisor, len(x.shape)))
    if node is None or law.source is law:
        return None
    kind, of = node.attrs["kind"], joint.operand(node, 0)
    made = joint.signal(node.outputs[0])
    if of is None or made.source is made or abs(made.source.mean - law.source.mean) > 1e-9 * (1 + abs(law.source.mean)):
        return None
    squared = _root(joint, of) if kind in ("mean", "sum") else of
    if squared is None:
        return None
    view = before_reduction(node, view, squared)
    if kind in ("var", "std"):
        n = prod(of.shape[a] for a in reduced_axes(node))
        scale = n / (n - float(node.attrs.get("correction", 1) or 0))
        whole = _deviation_of(joint, x, view)
        axes = _axes_between(joint, whole, squared, view) if whole is not None else None
        return Statistic(joint.signal(whole), axes, True, scale) if whole is not None and axes else None
    for start, share in _scaled(joint, x):
        axes = _axes_between(joint, start, squared, view)
        if axes:
            return Statistic(joint.signal(x), axes, False, share)
    return None


def _scaled(joint: Joint, x: Value) -> Iterator[tuple[Value, float]]:
    """x, and what it is a multiple of, with the share of its mean square that this has."""
    second = joint.signal(x).second
    for _ in range(4):
        yield x, joint.signal(x).second / second if second else 1.0
        node, inner = joint.story.producer(x.id), joint.argument(x.id)
        if node is None or inner is None or node.attrs.get("fn") not in MULTIPLES or inner.shape != x.shape:
            return
        x = inner


def _reduction(joint: Joint, view: Layout) -> tuple[Node | None, Layout]:
    """The reduction that a view goes back to, by functions of one tensor, and the view of what it gave."""
    for _ in range(16):
        node = joint.story.producer(view.base)
        if node is not None and spec_of(node.op).reduces:
            squares = node.attrs["kind"] != "norm" or node.attrs.get("power") in (None, 2.0)
            return (node if squares and node.attrs["kind"] in KINDS else None), view
        x = joint.argument(view.base)
        if node is None or x is None:
            break
        view = joint.down(along(view, node.outputs[0], x))
    return None, view


def _root(joint: Joint, value: Value) -> Value | None:
    """y of y^2."""
    base = joint.view(value, len(value.shape))
    node = joint.story.producer(base.base)
    if node is None or "fn" not in node.attrs or node.outputs[0].shape != value.shape or base.base != value.id:
        return None
    data = [x for _, x in joint.data(node)]
    fn, scalars = node.attrs["fn"], node.attrs.get("scalars") or {}
    if fn == "square" or (fn == "mul" and len(data) == 2 and data[0] == data[1]):
        return data[0]
    return data[0] if fn == "pow" and scalars.get(1) == 2.0 else None


def _axes_between(joint: Joint, x: Value, squared: Value, view: Layout) -> tuple[int, ...] | None:
    """The axes of x over which a statistic of `squared`, seen as `view`, is taken; None if x is something else."""
    whole, other = joint.view(x, len(x.shape)), joint.view(squared, len(squared.shape))
    if whole.base != other.base or whole.fixed != other.fixed or prod(x.shape) != prod(squared.shape):
        return None
    seen, gone = joint.down(view), []
    for axis, (one, two) in enumerate(zip(whole.axes, seen.axes, strict=True)):
        if one == two:
            continue
        if not all(isinstance(part, Repeat) for part in two) or any(isinstance(part, Repeat) for part in one):
            return None
        gone.append(axis)
    return tuple(gone) or None


def _deviation_of(joint: Joint, x: Value, view: Layout) -> Value | None:
    """y of x = y - its mean over the axes of the statistic."""
    node = joint.story.producer(joint.view(x, len(x.shape)).base)
    if node is None or node.attrs.get("fn") != "sub" or node.outputs[0] != x:
        return None
    whole, mean = joint.operand(node, 0), joint.operand(node, 1)
    if whole is None or mean is None or whole.shape != x.shape:
        return None
    reduction, seen = _reduction(joint, joint.view(mean, len(x.shape)))
    if reduction is None or reduction.attrs["kind"] != "mean" or reduction.outputs[0].id != joint.down(seen).base:
        return None
    of = joint.operand(reduction, 0)
    if of is None or joint.view(mean, len(x.shape)).base != reduction.outputs[0].id:
        return None
    own = before_reduction(reduction, seen, of)
    return whole if joint.down(own) == joint.down(view) else None
