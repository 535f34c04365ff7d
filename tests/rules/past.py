"""Signals that were made of one another by rules, so that rules can be asked how they vary together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoinit.core.dependence import Joint
from autoinit.core.dependence.relations import Relations
from autoinit.core.dependence.story import Story
from autoinit.core.graph.canonical.layout import Layout
from autoinit.core.graph.canonical.moves import MOVES
from autoinit.core.graph.graph import Graph, Node, Value
from autoinit.core.signal.signal import Signal


class Past:
    """Which value a signal is, and which node made it: a graph that grows with every call of a rule."""

    def __init__(self) -> None:
        self.layouts: dict[int, Layout] = {}
        self.signals: dict[int, Signal] = {}
        self.values: dict[int, Value] = {}
        self.story = Story(Graph(), self.layouts, lambda node: set(), id)
        self.joint = Joint(self.story, self.signals.get)

    def new(self, shape: Sequence[int]) -> Value:
        return Value(1000 + len(self.signals), tuple(shape))

    def value(self, signal: Signal) -> Value:
        """The value of a signal; a new one, of nothing or of its source, if it was never seen."""
        if id(signal) not in self.values:
            made = self._kept(signal)
            if signal.source is not signal and id(signal.source) in self.values:
                node = Node("elementwise", (self.values[id(signal.source)],), (made,), {"fn": signal.expr.name})
                self.story.seen(len(self.signals), node)
        return self.values[id(signal)]

    def _kept(self, signal: Signal, value: Value | None = None) -> Value:
        value = self.new(signal.shape) if value is None else value
        self.signals[value.id] = signal  # and so alive: no other signal gets its id
        self.values.setdefault(id(signal), value)
        return value

    def seen(self, node: Node, made: Signal | tuple[Signal, ...]) -> None:
        for value, signal in zip(node.outputs, made if isinstance(made, tuple) else (made,), strict=True):
            self._kept(signal, value)
        self.story.seen(len(self.signals), node)
        x = node.inputs[0] if node.inputs else None
        if node.op in MOVES and isinstance(x, Value):
            views: Any = MOVES[node.op](node, self.joint.view(x, len(x.shape)))
            self.layouts.update({value.id: view for value, view in zip(node.outputs, views or (), strict=False)})

    def relations(self, node: Node) -> Relations:
        return Relations(self.joint, node)
