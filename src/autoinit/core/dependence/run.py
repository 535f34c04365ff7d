"""What is asked of a run by those who look at its past."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

from ..graph.graph import Graph, Node
from ..options import Options
from ..signal.signal import Signal


class Rules(Protocol):
    """The rules of a run."""

    @property
    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Functions by op."""

    @property
    def project(self) -> Callable[[Signal], Signal] | None:
        """What every signal is put through, if anything."""


class Run(Protocol):
    """A pass over a graph, as far as it has come."""

    graph: Graph
    options: Options
    training: bool
    signals: dict[int, Signal]
    used_weights: dict[tuple[int, int], Signal]

    @property
    def rules(self) -> Rules:
        """Those that are used."""

    def signal(self, node: Node, slot: int) -> Signal | None:
        """An operand."""

    def weights_of(self, node: Node) -> set[int]:
        """The operands of a node that are weights."""

    def centred(self, node: Node, x: Signal) -> Signal:
        """The signal that a layer contracts."""

    def array(self, node: Node, slot: int) -> NDArray[Any] | None:
        """The values of an operand, if they are known."""

    def kept(self, node: Node, slot: int) -> bool:
        """Whether a parameter keeps its values."""

    def varies(self, node: Node, slot: int) -> bool:
        """Whether an operand depends on data."""

    def related(self, node: Node, slot: int, other: int) -> bool:
        """Whether two operands are made of the same layer's output."""
