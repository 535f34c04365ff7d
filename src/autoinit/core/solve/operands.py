"""The operands of nodes: parameters, constants and values as the signals that a run knows them by."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ..graph.graph import Constant, Graph, Node, ParameterView, Reference, Value
from ..graph.roles import bias_slot, gain_slots, unknown_value, weight_slots, why_left
from ..graph.tables import Table
from ..options import Options
from ..plan.weights import Part, whole
from ..signal.signal import Signal, constant
from .constants import Constants
from .policy import Decisions
from .weights_in_the_making import Derived


class Operands:
    """What nodes are given, in the state that a pass over the graph has reached."""

    def __init__(self, graph: Graph, inputs: dict[int, Signal], options: Options, decisions: Decisions) -> None:
        self.graph, self.options, self.decisions = graph, options, decisions
        self.signals: dict[int, Signal] = dict(inputs)
        self.derived: dict[int, Derived] = {}
        self.constants = Constants()
        self.tables: dict[str, Table] = {}
        self.index = 0
        """The node that is worked out."""
        self.data: set[int] = set(inputs)
        """Values that depend on the model's inputs or on chance, and not on constants and parameters alone."""
        self.solved: set[int] = set()
        """Values that came out of a contraction whose weight was set here."""

    def part(self, ref: Reference) -> Derived | None:
        """The operand as something made of settable parameters alone, if it is."""
        if isinstance(ref, ParameterView):
            return self.decisions.plain(ref)
        if isinstance(ref, Value):
            return self.derived.get(ref.id)
        return None

    def signal(self, node: Node, slot: int) -> Signal | None:
        """The operand as a signal with its present (or decided) values."""
        ref = node.inputs[slot]
        if ref is None:
            return None
        if isinstance(ref, Constant):
            return self.constants.signal(ref) or constant(ref.shape, unknown_value(node, slot))
        if isinstance(ref, ParameterView):
            return self.parameter(node, slot, ref)
        if ref.id not in self.signals:
            derived = self.derived[ref.id]
            for view in derived.views:
                self.decisions.touch(view.name, self.index, "kept", "used as data: accounted as it is")
            self.signals[ref.id] = derived.signal(self.decisions.assignment({}, "weight"))
        return self.signals[ref.id]

    def parameter(self, node: Node, slot: int, view: ParameterView) -> Signal:
        decisions = self.decisions
        why = decisions.why_kept(view.name)
        if decisions.must_stay(view.name) is None and (
            (slot == bias_slot(node) and self.weight_is_set(node)) or self._is_handmade_bias(node, slot, view)
        ):
            return self.bias(node, view)
        part = decisions.of[view.name].covering(decisions.region(view))
        if part is not None and part.kind == "random":
            plain = decisions.plain(view)
            assert plain is not None and plain.plain is not None
            return plain.plain.scaled(part.std)
        if part is not None and part.kind == "constant":
            return constant(view.shape, part.std)
        size = self.size_of_table(view.name) if why is None else None
        if size is not None:
            table = whole(self.graph.parameters[view.name])
            decisions.place(table, Part(table, size**0.5), self.index, "set", "the size of what it is added to")
            return self.parameter(node, slot, view)
        role = "gain" if slot in gain_slots(node) else "data"
        reason = decisions.must_stay(view.name) or why_left(node, slot) or why or "used as data: accounted as it is"
        decisions.touch(view.name, self.index, "kept", reason)
        return decisions.measured(view, role) if why is not None else decisions.as_it_is(view, role)

    def size_of_table(self, name: str) -> float | None:
        """Of a table that is added to something known: the second moment that it is to have."""
        table = self.tables.get(name)
        other = None if table is None else self.signals.get(table.other.id)
        return other.second if other is not None and other.second > 0 else None

    def bias(self, node: Node, view: ParameterView) -> Signal:
        known = self.decisions.of[view.name].covering(self.decisions.region(view))
        if known is None:
            self.decisions.place(view, Part(view, 0.0, "constant"), self.index, "zero", "biases start at zero")
        return constant(view.shape, 0.0)

    def _is_handmade_bias(self, node: Node, slot: int, view: ParameterView) -> bool:
        """One number per feature, added straight to the output of a contraction whose weight was set: x @ W + b."""
        if node.attrs.get("fn") != "add" or len(node.inputs) != 2 or len(view.shape) != 1:
            return False
        other = node.inputs[1 - slot]
        return isinstance(other, Value) and other.id in self.solved and other.shape[-1:] == view.shape

    def varies(self, node: Node, slot: int) -> bool:
        """Whether an operand depends on the data (or on chance): a table of constants is the same for every draw."""
        ref = node.inputs[slot]
        return isinstance(ref, Value) and ref.id in self.data

    def weight_is_set(self, node: Node) -> bool:
        """Whether the weight that goes with a bias is ours to set (a kept weight keeps its bias)."""
        for slot in weight_slots(node):
            part = self.part(node.inputs[slot])
            if part is not None:
                return True
        return False

    def array(self, node: Node, slot: int) -> NDArray[Any] | None:
        ref = node.inputs[slot] if slot < len(node.inputs) else None
        if isinstance(ref, Constant):
            return ref.array()
        if isinstance(ref, ParameterView) and self.kept(node, slot):
            return self.graph.parameters[ref.name].read(ref)
        return None

    def kept(self, node: Node, slot: int) -> bool:
        ref = node.inputs[slot]
        return isinstance(ref, ParameterView) and self.decisions.why_kept(ref.name) is not None
