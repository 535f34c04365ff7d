"""The context of rules that work out a weight in the making."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from ..dependence.relations import Relations
from ..dependence.story import Story
from ..graph.graph import Node
from ..signal.signal import Signal
from .operands import Operands
from .weights_in_the_making import Assignment


class Given:
    """Every operand is given, and nothing is decided."""

    def __init__(self, run: Operands, story: Story, signals: list[Signal | None], assignment: Assignment) -> None:
        self.run, self.story, self.signals, self.assignment = run, story, signals, assignment
        self.training = run.options.training

    def weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        signal = self.signals[slot]
        assert signal is not None
        return signal

    def centred(self, node: Node, x: Signal) -> Signal:
        return x

    def array(self, node: Node, slot: int) -> NDArray[Any] | None:
        return self.run.array(node, slot)

    def kept(self, node: Node, slot: int) -> bool:
        return self.run.kept(node, slot)

    def varies(self, node: Node, slot: int) -> bool:
        return self.run.varies(node, slot)

    def relations(self, node: Node) -> Relations:
        return Relations(self.assignment.joint(self.story), node)

    def related(self, node: Node, slot: int, other: int) -> bool:
        return False

    def doubt(self, why: str) -> None:
        """There is no sample of a weight that is not decided yet."""

    def note(self, node: Node, kind: str, message: str) -> None:
        """Notes are taken when the weight is used, not at every scale that is tried."""
