"""The loop: gradients from the outputs back to the parameters, through the adjoints of the ops."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..gaussian.expression import X
from ..gaussian.slopes import Slopes
from ..graph.graph import Node, ParameterView, Reference, Value
from ..graph.specs import spec_of
from ..plan.weights import whole
from ..signal import axes as K_axes
from ..signal.axis_maps import averaged_over
from ..signal.profiles import Array
from ..signal.signal import HUGE, Signal, iid
from ..solve.interpreter import Propagation
from ..solve.outcome import Gradients
from .chain import Chains
from .law import Law, added, summed, times

Adjoint = Callable[..., None]
"""adjoint(node, backward, *laws): one law, or None, for each output; it sends what comes of them to the operands."""

NO_ADJOINT = "no adjoint: the gradient is passed on as it is"


class Backward:
    """One pass. Also the context that adjoints talk to."""

    def __init__(self, run: Propagation, adjoints: dict[str, Adjoint]) -> None:
        self.run, self.adjoints, self.graph, self.training = run, adjoints, run.graph, run.training
        self.found = Gradients()
        self._laws: dict[int, list[Law]] = {}
        self._makers = {value.id: node for node in self.graph.nodes for value in node.outputs}
        self.chains = Chains(self._makers, run.signals, self.operand)
        self._wanted = self._above_parameters()
        self._rows: dict[int, Array] = {}

    def result(self) -> Gradients:
        for value in self.graph.outputs:
            if isinstance(value, Value) and value.id in self.run.signals:
                self.send(value, iid(value.shape))
        for index in range(len(self.graph.nodes) - 1, -1, -1):
            self.run.decisions.index = index
            self._step(index, self.graph.nodes[index])
        for name, parameter in self.graph.parameters.items():
            if parameter.trainable and name in self.found.parameters:
                self.found.sizes[name] = self._size_of(name)
            else:
                self.found.parameters.pop(name, None)
        self.found.notes.reverse()
        for index in self.run.outcome.weight_nodes:
            chi = self._correlation_slope(self.graph.nodes[index])
            if chi is not None:
                self.found.chi[index] = chi
        return self.found

    def _step(self, index: int, node: Node) -> None:
        laws = [self.law(value) for value in node.outputs]
        if all(law is None for law in laws):
            return
        for value, law in zip(node.outputs, laws, strict=True):
            if law is not None:
                self.found.tensors[value.id] = law.second
        if not any(self.wants(ref) for ref in node.inputs):
            return
        adjoint = self.adjoints.get(node.op)
        if adjoint is None:
            self.pass_on(node, *laws)
        else:
            adjoint(node, self, *laws)

    # --- what adjoints may ask ----------------------------------------------------------------------------------------

    def law(self, value: Value) -> Law | None:
        """The gradient of a value, all of whose readers have been heard."""
        laws = self._laws.get(value.id)
        return None if laws is None else added(laws)

    def wants(self, ref: Reference) -> bool:
        """Whether a gradient goes there: to parameters, and to what is made of them."""
        return isinstance(ref, ParameterView) or (isinstance(ref, Value) and ref.id in self._wanted)

    def operand(self, node: Node, slot: int) -> Signal | None:
        """The operand of the forward pass; weights as they were used."""
        used = self.run.used_weights.get((id(node), slot))
        if used is not None:
            return used
        ref = node.inputs[slot]
        if isinstance(ref, Value) and ref.id not in self.run.signals:
            derived = self.run.derived.get(ref.id)
            return None if derived is None else derived.signal(self.run.decisions.assignment({}, unknown=0.0))
        return self.run.signal(node, slot)

    def made(self, node: Node, output: int = 0) -> Signal | None:
        """The output of the forward pass."""
        value = node.outputs[output]
        found = self.run.signals.get(value.id)
        if found is None and value.id in self.run.derived:
            return self.run.derived[value.id].signal(self.run.decisions.assignment({}, unknown=0.0))
        return found

    def unlike(self, ref: Reference, axis: int, over: tuple[int, ...]) -> Array | None:
        """Mean squares over some axes, place by place of another axis, of what is put together along that of pieces."""
        node = self._makers.get(ref.id) if isinstance(ref, Value) else None
        if ref is None or node is None:
            return None
        if node.attrs.get("fn") == "add" and any(other is not None for other in node.inputs[1:]):
            known = [self.unlike(other, axis, over) for other in node.inputs if other and other.shape == ref.shape]
            parts = [self.operand(node, slot) for slot in range(len(node.inputs))]
            if all(levels is None for levels in known) or any(x is None for x in parts) or len(known) != 1:
                return None
            rest = sum(x.second for x, o in zip(parts, node.inputs, strict=True) if x and o and o.shape != ref.shape)
            return next(levels for levels in known if levels is not None) + rest
        if not spec_of(node.op).joins or node.attrs["axis"] != axis:
            return None
        levels = []
        for slot, piece in enumerate(node.inputs):
            x = self.operand(node, slot)
            if piece is None or x is None or x.ndim != len(ref.shape):
                return None
            inner = self.unlike(piece, axis, over)
            level = x.second - float(averaged_over(x.K, over, x.shape).flat[0])
            levels.append(np.full(x.shape[axis], level) if inner is None else inner)
        made = np.concatenate(levels)
        return np.maximum(made, 1e-12 * float(made.max())) if made.size == ref.shape[axis] and made.max() > 0 else None

    def scatter_of_rows(self, ref: Reference, axis: int) -> Array:
        """What the rows of weights before a tensor, one for each place of the axis, add to its volatility; the terms of
        a sum have rows of their own."""
        x = self.run.signals.get(ref.id) if isinstance(ref, Value) else None
        if x is None or not isinstance(ref, Value):
            return np.zeros(())
        if ref.id not in self._rows:
            node = self._makers.get(ref.id)
            terms = [] if node is None or node.attrs.get("fn") not in ("add", "sub") else node.inputs
            known = [(t, self.run.signals[t.id]) for t in terms if isinstance(t, Value) and t.shape == ref.shape]
            total = sum(u.variance for _, u in known)
            if len(known) == 2 and len(terms) == 2 and total > 0.0:
                apart = [(u.variance / total) ** 2 * self.scatter_of_rows(t, axis) for t, u in known]
                self._rows[ref.id] = np.asarray(apart[0] + apart[1])
            else:
                V = np.zeros(x.K.shape) if x.volatility is None else np.maximum(x.volatility, 0.0)
                same, other = K_axes.same(V, axis), K_axes.different(V, axis)
                self._rows[ref.id] = K_axes.of_both(np.maximum(same - other, 0.0), np.zeros_like(other), axis)
        return self._rows[ref.id]

    def send(self, ref: Reference, law: Law | Signal) -> None:
        """A gradient for an operand; of one that was broadcast, it is summed up."""
        if not self.wants(ref):
            return
        law = Law(law) if isinstance(law, Signal) else law
        assert ref is not None
        if law.moments.shape != ref.shape:
            law = Law(summed(law.moments, ref.shape))
        if not np.all(np.abs(law.moments.K) <= HUGE):
            law = Law(times(law.moments, HUGE / max(float(np.abs(law.moments.K).max()), HUGE)))
        if isinstance(ref, Value):
            self._laws.setdefault(ref.id, []).append(law)
        elif isinstance(ref, ParameterView):
            size = max(prod(self.graph.parameters[ref.name].shape), 1)
            parameters = self.found.parameters
            parameters[ref.name] = parameters.get(ref.name, 0.0) + max(law.second, 0.0) * prod(ref.shape) / size

    def pass_on(self, node: Node, *laws: Law | None, why: str = NO_ADJOINT) -> None:
        """What nobody has an adjoint for: every operand gets gradients of the output's size. The plan says so."""
        self.note(node, f"{node.label or node.op}: {why}")
        known = [law for law in laws if law is not None]
        second = sum(law.second for law in known) / max(len(known), 1)
        for ref in node.inputs:
            if self.wants(ref) and ref is not None:
                same = next((law for law in known if law.moments.shape == ref.shape), None)
                self.send(ref, iid(ref.shape, 0.0, second) if same is None else same.plain())

    def note(self, node: Node, message: str) -> None:
        """Where the gradients of the plan are rough, and why."""
        self.found.notes.append((self.run.decisions.index, "gradient", message))

    # --- the graph ----------------------------------------------------------------------------------------------------

    def _above_parameters(self) -> set[int]:
        """Values that depend on parameters."""
        wanted: set[int] = set()
        for node in self.graph.nodes:
            if any(isinstance(r, ParameterView) or (isinstance(r, Value) and r.id in wanted) for r in node.inputs):
                wanted.update(value.id for value in node.outputs)
        return wanted

    def _correlation_slope(self, node: Node) -> float | None:
        """E[f'^2] Var u / E[f^2] of what a weight layer contracts, x = f(u): the slope at 1 of the map from the
        correlation of u to that of the layer's output."""
        x = next((ref for ref in node.inputs if isinstance(ref, Value)), None)
        maker = None if x is None else self._makers.get(x.id)
        chain = None if maker is None else self.chains.of(maker)
        if x is None or chain is None or chain.f.line is not None:
            return None
        u, second = self.run.signals[chain.of.id], self.run.signals[x.id].second
        if u.expr is not X or second <= 0.0:
            return None
        return Slopes(chain.f, X, u.mean, u.variance).second * u.variance / second

    def _size_of(self, name: str) -> float:
        """E[w^2] of a parameter as it will be."""
        decision, parameter = self.run.decisions.of.get(name), self.graph.parameters[name]
        if decision is None or not decision.parts:
            return self.run.decisions.measured(whole(parameter), unknown=0.0).second
        filled = sum(part.std**2 * prod(view.shape) for view, part in _parts(decision))
        return float(filled) / max(prod(parameter.shape), 1)


def _parts(decision: Any) -> list[tuple[ParameterView, Any]]:
    return [(part.view, part) for _, part in decision.parts]
