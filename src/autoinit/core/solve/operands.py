"""The operands of nodes: parameters, constants and values as the signals that a run knows them by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.graph import Constant, Graph, Node, ParameterView, Reference, Value
from ..graph.roles import bias_slot, gain_slots, unknown_value, weight_slots, why_left
from ..graph.tables import Table
from ..options import Options
from ..plan.weights import Part, whole
from ..signal.broadcast import aligned
from ..signal.masks import dead_entries
from ..signal.measured import from_array
from ..signal.signal import Signal, constant
from .policy import Decisions, filled
from .weights_in_the_making import Derived

MOST = 1e29
"""Constants beyond this (the lowest number of a type, in masks) are taken as this: their squares must be finite."""
COMPARED = 2**20
"""Constants of more entries are not compared with others."""


class Operands:
    """What nodes are given, in the state that a pass over the graph has reached."""

    def __init__(self, graph: Graph, inputs: dict[int, Signal], options: Options, decisions: Decisions) -> None:
        self.graph, self.options, self.decisions = graph, options, decisions
        self.signals: dict[int, Signal] = dict(inputs)
        self.derived: dict[int, Derived] = {}
        self.constants = Constants()
        self.tables: dict[str, Table] = {}
        self.zeros: set[int] = set()
        """Calls whose weights or gains begin at zero."""
        self.late_tables: dict[str, float] = {}
        """Second moments of tables that are used before what they are added to is known."""
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
                self.decisions.keep(view.name, "used as data: accounted as it is")
            self.signals[ref.id] = derived.signal(self.decisions.assignment({}, unknown=0.0))
        return self.signals[ref.id]

    def parameter(self, node: Node, slot: int, view: ParameterView) -> Signal:
        decisions = self.decisions
        why = decisions.why_kept(view.name)
        if decisions.must_stay(view.name) is None and (
            (slot == bias_slot(node) and self.weight_is_set(node)) or self._is_handmade_bias(node, slot, view)
        ):
            if decisions.scale(view) is None:
                decisions.store(view, Part(view, 0.0, "constant"), "zero", "biases start at zero")
            return constant(view.shape, 0.0)
        if decisions.index in self.zeros and slot in gain_slots(node) and why is None:
            self.set_to_zero(view)
        part = decisions.of[view.name].covering(decisions.region(view))
        if part is not None and part.kind in ("random", "constant"):
            return filled(view, part)
        size = self.size_of_table(view.name, 1.0) if why is None else None
        if size is not None:
            table = whole(self.graph.parameters[view.name])
            decisions.store(table, Part(table, size**0.5), "set", "the size of what it is added to")
            return self.parameter(node, slot, view)
        reason = decisions.must_stay(view.name) or why_left(node, slot) or why or "used as data: accounted as it is"
        decisions.keep(view.name, reason)
        unknown = 1.0 if slot in gain_slots(node) else 0.0
        return decisions.measured(view, unknown) if why is not None else decisions.as_it_is(view, unknown)

    def set_to_zero(self, view: ParameterView) -> None:
        """The end of a residual branch, unless something else decided it."""
        if self.decisions.scale(view) is None:
            self.decisions.store(view, Part(view, 0.0, "constant"), "zero", "the end of a residual branch")

    def size_of_table(self, name: str, default: float) -> float | None:
        """The second moment that a table is to have that is added to something; None if it is no such table.

        What it is added to may come later: then it is as in the last pass, or the default.
        """
        table = self.tables.get(name)
        if table is None:
            return None
        if table.other.id not in self.signals:
            return self.late_tables.setdefault(name, default)
        return self.wanted(table)

    def wanted(self, table: Table) -> float | None:
        """By what it is added to; None if that is zero, or was never met."""
        other = self.signals.get(table.other.id)
        return table.ratio**2 * other.second if other is not None and other.second > 0 else None

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
        return any(self.part(node.inputs[slot]) is not None for slot in weight_slots(node))

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


class Constants:
    """The signals of constants. Equal ones are one signal, however often a model makes them: x + c - c is x."""

    def __init__(self) -> None:
        self._known: dict[int, Signal] = {}
        self._contents: dict[tuple[Any, ...], Signal] = {}

    def signal(self, ref: Constant) -> Signal | None:
        """A constant array: measured, None without values. Very negative entries are the dead places of a mask."""
        found = self._known.get(id(ref))
        if found is not None:
            return found
        array = ref.array()
        if array is None:
            return None
        values = np.asarray(array)
        key = (ref.shape, values.dtype.str, values.shape, values.tobytes() if values.size <= COMPARED else id(ref))
        if key not in self._contents:
            self._contents[key] = _measured(ref, values)
        self._known[id(ref)] = self._contents[key]
        return self._contents[key]

    def identity(self, ref: Constant) -> object:
        """Equal for constants that hold the same."""
        found = self.signal(ref)
        return id(ref) if found is None else id(found)


def _measured(ref: Constant, values: Any) -> Signal:
    if np.iscomplexobj(values):
        return aligned(from_array(np.nan_to_num(values)), ref.shape)
    values = values.astype(np.float64)
    dead = dead_entries(values)
    live = ~dead if dead.any() and not np.all(dead) else None
    values = np.where(dead & (live is not None), 0.0, np.clip(np.nan_to_num(values), -MOST, MOST))
    found = aligned(from_array(values), ref.shape)
    return found if live is None else found.but(live=live)
