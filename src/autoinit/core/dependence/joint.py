"""How two values vary together: asked on demand, answered by a recursion over the graph.

cov(u, v) with u, v views of values. Views of one value meet the same entries as often as `coincidence` says; functions
of one Gaussian source are integrated together; else the value that came later is written as its linear form
(`forms`) in terms of earlier ones. A contraction with a weight of its own varies with nothing that came before; two
with the same weight vary together as much as what they contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..graph.canonical.layout import Axis, Cut, Digit, Layout, Part, Repeat, of_base
from ..graph.graph import Node, ParameterView, Value
from ..graph.roles import feature_axis
from ..graph.specs import spec_of
from ..signal.signal import Signal
from .coincidence import pushed
from .forms import FORMS
from .functions import covariance_of_functions
from .lineage import cross_moment
from .substitution import Lost, through

if TYPE_CHECKING:
    from ..solve.interpreter import Propagation

Array = NDArray[np.float64]
MOST_STEPS = 300
"""Longer stories are not followed."""


class Unknown(Exception):
    """Nobody can say how two values vary together."""


class Joint:
    """The covariances of one run."""

    def __init__(self, run: Propagation, layouts: Mapping[int, Layout]) -> None:
        self.run, self.layouts = run, layouts
        self.producer: dict[int, tuple[int, Node]] = {}
        self._known: dict[tuple[Layout, Layout], Array] = {}
        self._steps = 0

    def seen(self, index: int, node: Node) -> None:
        for value in node.outputs:
            self.producer[value.id] = index, node

    def covariance(self, one: Value, two: Value, shape: Sequence[int]) -> Array | None:
        """cov(u_i, v_j) for every pattern of a shape that both broadcast to; None where it cannot be told."""
        self._steps = 0
        try:
            return self._between(self._view(one, len(shape)), self._view(two, len(shape)), tuple(shape))
        except (Unknown, Lost, ValueError, RecursionError):
            return None

    def _view(self, value: Value, ndim: int) -> Layout:
        layout = self.layouts.get(value.id) or of_base(value.id, value.shape)
        return layout._replace(axes=((),) * (ndim - len(layout.axes)) + layout.axes)

    def signal(self, value: Value | int) -> Signal:
        found = self.run.signals.get(value if isinstance(value, int) else value.id)
        if found is None:
            raise Unknown
        return found

    def mean(self, node: Node, slot: int) -> float | None:
        if node.inputs[slot] is None:
            return float(node.attrs.get("scalars", {}).get(slot, 0.0))
        if isinstance(node.inputs[slot], ParameterView):
            return None
        made = self.run.signal(node, slot)
        return None if made is None else made.mean

    def slope(self, made: Value, x: Value) -> float | None:
        """E[f'] of a pointwise function."""
        f, u = self.signal(made), self.signal(x)
        if f.source is not u.source or u.variance <= 0.0:
            return None
        return (float(cross_moment(f, u).flat[0]) - f.mean * u.mean) / u.variance

    # --- the recursion ----------------------------------------------------------------------------------------------

    def _between(self, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array:
        key = (a, b)
        if key not in self._known:
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise Unknown
            self._known[key] = self._worked_out(a, b, shape)
        return self._known[key]

    def _worked_out(self, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array:
        nothing = np.zeros((2,) * len(shape))
        u = self.signal(a.base)
        if a.base == b.base:
            return pushed(u.covariance, a.base, u.shape, a, b, shape)
        v = self.signal(b.base)
        if u.source is v.source and u.shape == v.shape:
            together = cross_moment(u, v) - u.mean * v.mean
            return pushed(together, a.base, u.shape, a, _renamed(b, a.base), shape)
        if u.shape == v.shape and (u.source is not u or v.source is not v):
            one, two = self._source(a.base), self._source(b.base)
            if one is not None and two is not None:
                inner = self._between(self._view(one, u.ndim), self._view(two, v.ndim), u.shape)
                if not inner.any():
                    return nothing
                return pushed(covariance_of_functions(u, v, inner), a.base, u.shape, a, _renamed(b, a.base), shape)
        if self._when(a) < self._when(b):
            a, b = b, a
        if a.base not in self.producer:
            return nothing  # two inputs
        _, node = self.producer[a.base]
        if self.run.weights_of(node):
            return self._by_weight(node, a, b, shape)
        if spec_of(node.op).source:
            return nothing
        form = FORMS[node.op](self, node, a) if node.op in FORMS else None
        if form is None:
            raise Unknown
        total = nothing
        for coefficient, view in form:
            if coefficient:
                total = total + coefficient * self._between(self._down(view), b, shape)
        return total

    def _source(self, base: int) -> Value | None:
        """The value that a signal is a pointwise function of; itself if it is a source."""
        signal = self.signal(base)
        at = Value(base, signal.shape)
        while self.signal(at).source is not self.signal(at):
            node = self.producer[at.id][1] if at.id in self.producer else None
            data = [ref for ref in node.inputs if isinstance(ref, Value)] if node is not None else []
            if node is None or not spec_of(node.op).pointwise or len(data) != 1 or data[0].shape != at.shape:
                return None
            at = data[0]
        return at if self.signal(at) is signal.source else None

    def _down(self, view: Layout) -> Layout:
        """A view of a value that is a view itself, as one of its base."""
        inner = self.layouts.get(view.base)
        if inner is None or inner.base == view.base:
            return view
        shape = inner.shape
        axes = {
            Axis(view.base, k, n): parts for k, (parts, n) in enumerate(zip(inner.axes, shape, strict=True)) if n > 1
        }
        return through(view, inner.base, axes, inner.fixed)

    def _when(self, view: Layout) -> int:
        return self.producer[view.base][0] if view.base in self.producer else -1

    def _by_weight(self, node: Node, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array:
        """Two contractions with the same weight: E[y y'] = n s^2 E[x x'] for the same feature, else 0."""
        nothing = np.zeros((2,) * len(shape))
        if b.base not in self.producer:
            return nothing
        _, other = self.producer[b.base]
        slots = self.run.weights_of(node)
        if self.run.weights_of(other) != slots or len(slots) != 1 or node.op != other.op:
            return self._shared_elsewhere(node, other, nothing)
        slot = next(iter(slots))
        if node.inputs[slot] != other.inputs[slot]:
            return self._shared_elsewhere(node, other, nothing)
        x, y = node.inputs[0], other.inputs[0]
        axis = feature_axis(node)
        if axis is None or not isinstance(x, Value) or not isinstance(y, Value):
            raise Unknown
        out = node.outputs[0]
        if x.shape != y.shape or len(x.shape) != len(out.shape):
            raise Unknown
        u, v = self.signal(x), self.signal(y)
        if u.second <= 0.0:
            return nothing
        inner = self._between(self._view(x, u.ndim), self._view(y, v.ndim), u.shape) + u.mean * v.mean
        same = np.take(inner, 0, axis=axis) * (self.signal(out).second / u.second)
        table = np.stack([same, np.zeros_like(same)], axis=axis)
        return pushed(table, a.base, out.shape, a, _renamed(b, a.base), shape)

    def _shared_elsewhere(self, node: Node, other: Node, nothing: Array) -> Array:
        """A weight that is used again may be in the past of the other: nobody followed that."""
        if self.run.sharing.shared and any(
            ref in self.run.sharing.shared for ref in node.inputs if isinstance(ref, ParameterView)
        ):
            raise Unknown
        return nothing


def _renamed(view: Layout, base: int) -> Layout:
    """The same view of another value of the same shape."""

    def of(part: Part) -> Part:
        if isinstance(part, Repeat):
            return part
        root = part.root
        if isinstance(root, Cut):
            return part._replace(root=root._replace(of=tuple(map(of, root.of))))
        assert isinstance(root, Axis)
        return part._replace(root=root._replace(base=base))

    fixed: set[tuple[Digit, int]] = set()
    for digit, index in view.fixed:
        made = of(digit)
        assert isinstance(made, Digit)
        fixed.add((made, index))
    return Layout(base, tuple(tuple(map(of, parts)) for parts in view.axes), frozenset(fixed))
