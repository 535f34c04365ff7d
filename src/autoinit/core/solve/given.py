"""Contexts of rules that work something out again: every operand is given, nothing is decided or noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ..dependence.places import Doubtful
from ..dependence.relations import Relations
from ..graph.graph import Node
from ..graph.specs import spec_of
from ..signal.signal import Signal

if TYPE_CHECKING:
    from .interpreter import Propagation


class Given:
    """The context of a weight in the making; `weight` gives operands by their slots."""

    def __init__(
        self, run: Propagation, weight: Callable[[int], Signal | None], relations: Callable[[Node], Relations]
    ) -> None:
        self.run, self.training, self._weight, self.relations = run, run.training, weight, relations

    def weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        signal = self._weight(slot)
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

    def related(self, node: Node, slot: int, other: int) -> bool:
        return False

    def of_rows(self, node: Node, slot: int, axis: int, rows: tuple[int, ...]) -> Signal | None:
        return None

    def doubt(self, why: str) -> None:
        """There is no sample of a weight that is not decided yet."""

    def note(self, node: Node, kind: str, message: str) -> None:
        """Notes are taken when the weight is used, not at every scale that is tried."""


class Revisited(Given):
    """The context of an op on parts of its operands, which have no values of their own to ask about."""

    def __init__(self, run: Propagation, node: Node) -> None:
        super().__init__(run, lambda slot: run.used_weights[id(node), slot], lambda part: Relations(None, part))

    def centred(self, node: Node, x: Signal) -> Signal:
        return self.run.centred(node, x)

    def array(self, node: Node, slot: int) -> NDArray[Any] | None:
        return None if spec_of(node.op).pointwise else self.run.array(node, slot)

    def related(self, node: Node, slot: int, other: int) -> bool:
        return self.run.related(node, slot, other)

    def doubt(self, why: str) -> None:
        raise Doubtful(why)
