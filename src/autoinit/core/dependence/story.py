"""How the values of a graph came about: who made them, of which views, with which weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ..graph.canonical.layout import Layout
from ..graph.graph import Constant, Graph, Node, ParameterView, Value
from ..graph.specs import spec_of
from ..signal.signal import Signal

FIRST_LEAF = -2
"""Constants and parameters that are data get numbers below those of values."""


class Story:
    """The past of every value that was seen so far."""

    def __init__(
        self, graph: Graph, layouts: Mapping[int, Layout], weights_of: Callable[[Node], set[int]],
        same: Callable[[Constant], object],
    ) -> None:  # fmt: skip
        """same: equal for constants that hold the same."""
        self.layouts, self._weights_of, self._same = layouts, weights_of, same
        uses = Counter(ref for node in graph.nodes for ref in set(node.inputs) if isinstance(ref, ParameterView))
        self._shared = {ref for ref, count in uses.items() if count > 1}
        self._made: dict[int, tuple[float, Node]] = {}
        self._leaves: dict[object, int] = {}
        self._roots: dict[int, frozenset[object]] = {}
        self.leaves: dict[int, Signal] = {}
        """The signals of constants and parameters that are data."""

    def seen(self, index: int, node: Node, signals: list[Signal | None] | None = None) -> None:
        for value in node.outputs:
            self._made[value.id] = index, node
        for slot, signal in enumerate(signals or ()):
            if signal is not None and not isinstance(node.inputs[slot], Value):
                leaf = self.operand(node, slot)
                assert leaf is not None
                self.leaves.setdefault(leaf.id, signal)

    def producer(self, value: int) -> Node | None:
        return self._made[value][1] if value in self._made else None

    def imagined(self, x: Value, key: object, signal: Callable[[], Signal]) -> Value:
        """A function of a value, entry by entry, that no node computes. key: which."""
        made = Value(self.leaf(key), x.shape)
        if made.id not in self.leaves:
            self.leaves[made.id] = signal()
            self._made[made.id] = self.when(x.id) + 0.5, Node("elementwise", (x,), (made,), {"fn": "imagined"})
        return made

    def when(self, value: int) -> float:
        return self._made[value][0] if value in self._made else -1

    def weights_of(self, node: Node) -> set[int]:
        """The operands of a node that are weights with values of their own for every draw."""
        found = self._weights_of(node)
        return {slot for slot in found if not isinstance(node.inputs[slot], Constant)} if found else found

    def roots(self, value: int) -> frozenset[object]:
        """The weights (those that several nodes share), or else the values that came of them, and the inputs, that a
        value is made of."""
        waiting = [value]
        while waiting:
            at = waiting[-1]
            node = self.producer(at)
            if at in self._roots:
                waiting.pop()
                continue
            if node is None:
                self._roots[at] = frozenset((at,) if at >= 0 else ())
                continue
            weights = {node.inputs[slot] for slot in self.weights_of(node)}
            if weights or spec_of(node.op).source:
                shared = weights & self._shared
                self._roots[at] = frozenset(shared or (node.outputs[0].id,))
                continue
            data = [ref.id for ref in node.inputs if isinstance(ref, Value)]
            open_ones = [ref for ref in data if ref not in self._roots]
            waiting += open_ones
            if not open_ones:
                self._roots[at] = frozenset().union(*(self._roots[ref] for ref in data))
        return self._roots[value]

    def is_shared(self, node: Node) -> bool:
        """Whether a weight of a node is used elsewhere, too."""
        return bool(self._shared) and any(ref in self._shared for ref in node.inputs if isinstance(ref, ParameterView))

    def operand(self, node: Node, slot: int) -> Value | None:
        """An operand as a value; constants and parameters as leaves. None for a number, or nothing."""
        ref = node.inputs[slot]
        if ref is None or isinstance(ref, Value):
            return ref
        return Value(self.leaf(ref), ref.shape)

    def leaf(self, ref: object) -> int:
        key = self._same(ref) if isinstance(ref, Constant) else ref
        return self._leaves.setdefault(key, FIRST_LEAF - len(self._leaves))
