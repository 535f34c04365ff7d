"""Historical markings: the same change of a graph has the same mark, whenever and in whomever it happens.

Marks are given in the order in which changes are first made. All changes are made between generations, one after the
other and from the seed, so that marks depend neither on the number of workers nor on interruptions.
"""

from __future__ import annotations

from collections.abc import Container

from .graph import OUTPUT, Edge


class Markings:
    """Gives the marks of one population."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[int, int, int], int] = {}
        self._edges: dict[tuple[int, int], int] = {}

    def node(self, source: int, target: int, taken: Container[int]) -> int:
        """The mark of a node on a connection; `taken` are the marks of the graph that it enters.

        A graph that had a node there, and got the connection again, gets a second one.
        """
        time = 0
        while (mark := self._node(source, target, time)) in taken:
            time += 1
        return mark

    def _node(self, source: int, target: int, time: int) -> int:
        return self._nodes.setdefault((source, target, time), OUTPUT + 1 + len(self._nodes))

    def edge(self, source: int, target: int) -> Edge:
        return Edge(self._edges.setdefault((source, target), len(self._edges)), source, target)
