"""The context of rules that work out a weight in the making."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..dependence.relations import Relations
from ..graph.graph import Node
from ..signal.signal import Signal
from .weights_in_the_making import Assignment

if TYPE_CHECKING:
    from .interpreter import Propagation


class Given:
    """Every operand is given, and nothing is decided."""

    def __init__(self, run: Propagation, signals: list[Signal | None], assignment: Assignment) -> None:
        self.run, self.signals, self.assignment, self.training = run, signals, assignment, run.training

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
        return Relations(self.assignment.joint(self.run.story), node)

    def related(self, node: Node, slot: int, other: int) -> bool:
        return False

    def doubt(self, why: str) -> None:
        """There is no sample of a weight that is not decided yet."""

    def note(self, node: Node, kind: str, message: str) -> None:
        """Notes are taken when the weight is used, not at every scale that is tried."""
