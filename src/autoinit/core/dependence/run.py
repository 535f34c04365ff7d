"""What is asked of a run by those who look at its past."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..graph.graph import Graph, Node
from ..options import Options
from ..signal.signal import Signal
from .story import Story


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
    signals: dict[int, Signal]
    story: Story

    @property
    def rules(self) -> Rules:
        """Those that are used."""

    def signal(self, node: Node, slot: int) -> Signal | None:
        """An operand."""

    def weights_of(self, node: Node) -> set[int]:
        """The operands of a node that are weights."""

    def revisited(self, node: Node) -> Any:
        """The context of a rule that works a node out again, for parts of its operands."""
