"""The loop: gradients from the outputs back to the parameters, through the adjoints of the ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graph.graph import Node, ParameterView, Reference, Value
from ..plan.weights import whole
from ..signal.signal import HUGE, Signal, iid
from .chain import Chains
from .law import Law, added, summed, times

if TYPE_CHECKING:
    from ..solve.interpreter import Propagation

Adjoint = Callable[..., None]
"""adjoint(node, backward, *laws): one law, or None, for each output; it sends what comes of them to the operands."""

NO_ADJOINT = "no adjoint: the gradient is passed on as it is"


@dataclass(slots=True)
class Gradients:
    """What a backward pass found: second moments of gradients, by value and by parameter."""

    tensors: dict[int, float] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    """Of one entry of the parameter's gradient."""
    sizes: dict[str, float] = field(default_factory=dict)
    """Second moments of the parameters themselves."""
    chi: dict[int, float] = field(default_factory=dict)
    """Slopes of the correlation map, by the index of the node of a weight layer."""
    notes: list[tuple[int, str, str]] = field(default_factory=list)
    """(node, kind, message)"""


class Backward:
    """One pass. Also the context that adjoints talk to."""

    def __init__(self, run: Propagation, adjoints: dict[str, Adjoint]) -> None:
        self.run, self.adjoints, self.graph, self.training = run, adjoints, run.graph, run.training
        self.found = Gradients()
        self._laws: dict[int, list[Law]] = {}
        makers = {value.id: node for node in self.graph.nodes for value in node.outputs}
        self.chains = Chains(makers, run.signals, self.operand)
        self._wanted = self._above_parameters()
        self._readers = Counter(ref.id for node in self.graph.nodes for ref in node.inputs if isinstance(ref, Value))

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

    def read_once(self, ref: Reference) -> bool:
        """Whether nobody else reads a value."""
        return isinstance(ref, Value) and self._readers[ref.id] == 1

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
        """What nobody has an adjoint for: every operand gets gradients of the size of the output's. The plan says so."""
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

    def _size_of(self, name: str) -> float:
        """E[w^2] of a parameter as it will be."""
        decision, parameter = self.run.decisions.of.get(name), self.graph.parameters[name]
        if decision is None or not decision.parts:
            return self.run.decisions.measured(whole(parameter), unknown=0.0).second
        filled = sum(part.std**2 * prod(view.shape) for view, part in _parts(decision))
        return float(filled) / max(prod(parameter.shape), 1)


def _parts(decision: Any) -> list[tuple[ParameterView, Any]]:
    return [(part.view, part) for _, part in decision.parts]
