"""How the values of a graph came about: who made them, of which views, with which weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ..graph.canonical.layout import Layout
from ..graph.graph import Constant, Graph, Node, ParameterView, Value
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
        self.layouts, self.weights_of, self._same = layouts, weights_of, same
        uses = Counter(ref for node in graph.nodes for ref in set(node.inputs) if isinstance(ref, ParameterView))
        self._shared = {ref for ref, count in uses.items() if count > 1}
        self._made: dict[int, tuple[float, Node]] = {}
        self._leaves: dict[object, int] = {}
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
