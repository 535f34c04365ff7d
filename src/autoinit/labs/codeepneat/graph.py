"""Directed graphs with historical markings: what modules and blueprints have in common.

Everything flows from INPUT to OUTPUT. A graph is checked when it is made: no cycle, and every node lies on a way from
the input to the output.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...core.lazy import lazy
from .problems import GenomeError
from .ranges import Value, pairs

INPUT, OUTPUT = 0, 1
"""The marks of the two ends; other nodes are marked from 2 on."""


@dataclass(frozen=True)
class Node:
    """A gene: its mark, what it is, and its hyperparameters. Among these "merge": how it brings its inputs together."""

    mark: int
    kind: str
    values: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", pairs(self.values))

    def __getitem__(self, name: str) -> Value:
        return dict(self.values)[name]

    @property
    def settings(self) -> dict[str, Value]:
        """The hyperparameters without the merge."""
        return {name: value for name, value in self.values if name != "merge"}

    @property
    def merge(self) -> str | None:
        found = dict(self.values).get("merge")
        return None if found is None else str(found)

    def changed(self, **values: Value) -> Node:
        return Node(self.mark, self.kind, tuple((name, values.get(name, value)) for name, value in self.values))

    def __str__(self) -> str:
        return f"{self.mark}:{self.kind}({', '.join(f'{n}={v}' for n, v in self.settings.items())})"


@dataclass(frozen=True, order=True)
class Edge:
    """A gene: a connection from one node to another."""

    mark: int
    source: int
    target: int


@dataclass(frozen=True)
class Graph:
    """Nodes (the output among them, the input not) and edges, both in the order of their marks."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(sorted(self.nodes, key=lambda node: node.mark)))
        object.__setattr__(self, "edges", tuple(sorted(self.edges)))
        self._check()

    def __getitem__(self, mark: int) -> Node:
        return self._by_mark[mark]

    @lazy
    def _by_mark(self) -> dict[int, Node]:
        return {node.mark: node for node in self.nodes}

    @lazy
    def _sources(self) -> dict[int, tuple[int, ...]]:
        found: dict[int, list[int]] = {mark: [] for mark in (INPUT, *self._by_mark)}
        for edge in self.edges:
            found[edge.target].append(edge.source)
        return {mark: tuple(sorted(sources)) for mark, sources in found.items()}

    def sources(self, mark: int) -> tuple[int, ...]:
        """Where the inputs of a node come from, in the order of marks."""
        return self._sources[mark]

    @lazy
    def order(self) -> tuple[Node, ...]:
        """The nodes so that each comes after all that it reads; of several that could be next the smallest mark."""
        targets: dict[int, list[int]] = {}
        waiting = {mark: len(sources) for mark, sources in self._sources.items()}
        for edge in self.edges:
            targets.setdefault(edge.source, []).append(edge.target)
        ready, found = [mark for mark, count in waiting.items() if not count], []
        heapq.heapify(ready)
        while ready:
            mark = heapq.heappop(ready)
            found.append(mark)
            for target in targets.get(mark, ()):
                waiting[target] -= 1
                if not waiting[target]:
                    heapq.heappush(ready, target)
        return tuple(self._by_mark[mark] for mark in found if mark != INPUT)

    @lazy
    def levels(self) -> dict[int, int]:
        """How far each node is from the input on the longest way."""
        found = {INPUT: 0}
        for node in self.order:
            found[node.mark] = 1 + max(found[source] for source in self._sources[node.mark])
        return found

    @property
    def size(self) -> int:
        """Nodes between input and output."""
        return len(self.nodes) - 1

    def pairs_to_connect(self) -> list[tuple[int, int]]:
        """All new connections that leave the graph without a cycle, in the order of marks."""
        before = self._before
        there = {(edge.source, edge.target) for edge in self.edges}
        marks = [INPUT, *self._by_mark]
        return [
            (a, b)
            for a in marks
            for b in marks
            if a not in (b, OUTPUT) and b != INPUT and (a, b) not in there and b not in before[a]
        ]

    @lazy
    def _before(self) -> dict[int, set[int]]:
        """What comes before each node."""
        found: dict[int, set[int]] = {INPUT: set()}
        for node in self.order:
            found[node.mark] = {s for source in self._sources[node.mark] for s in (source, *found[source])}
        return found

    def with_nodes(self, nodes: Iterable[Node]) -> Graph:
        """The same graph with other genes at some marks."""
        new = {node.mark: node for node in nodes}
        return Graph(tuple(new.get(node.mark, node) for node in self.nodes), self.edges)

    def with_edge(self, edge: Edge) -> Graph:
        return Graph(self.nodes, (*self.edges, edge))

    def split(self, old: Edge, node: Node, before: Edge, after: Edge) -> Graph:
        """The same graph with a node in the place of a connection."""
        kept = tuple(edge for edge in self.edges if edge != old)
        return Graph((*self.nodes, node), (*kept, before, after))

    def to_dict(self) -> dict[str, Any]:
        return {
            "nodes": [{"mark": n.mark, "kind": n.kind, **dict(n.values)} for n in self.nodes],
            "edges": [[edge.mark, edge.source, edge.target] for edge in self.edges],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Graph:
        try:
            nodes = tuple(
                Node(item["mark"], item["kind"], tuple((n, v) for n, v in item.items() if n not in ("mark", "kind")))
                for item in data["nodes"]
            )
            return cls(nodes, tuple(Edge(*item) for item in data["edges"]))
        except (KeyError, TypeError) as error:
            raise GenomeError("this is not a graph", where="Graph.from_dict", received=repr(data)[:120],
                              fix="what Graph.to_dict() gave") from error  # fmt: skip

    def __str__(self) -> str:
        lines = []
        for node in self.order:
            sources = ", ".join("input" if s == INPUT else str(s) for s in self.sources(node.mark))
            merged = f" {node.merge}" if len(self.sources(node.mark)) > 1 else ""
            lines.append(f"{'output' if node.mark == OUTPUT else node} <-{merged} {sources}")
        return "\n".join(lines)

    def _check(self) -> None:
        marks = [node.mark for node in self.nodes]
        ends = [(edge.source, edge.target) for edge in self.edges]
        if OUTPUT not in marks or INPUT in marks or len(set(marks)) != len(marks):
            raise self._wrong("nodes have marks of their own, and one of them is the output", str(marks))
        if len(set(ends)) != len(ends) or len({edge.mark for edge in self.edges}) != len(ends):
            raise self._wrong("two edges are the same", str(ends))
        loose = [(a, b) for a, b in ends if a not in (INPUT, *marks) or b not in marks or a == OUTPUT]
        if loose:
            raise self._wrong("an edge leads to nowhere", str(loose))
        if len(self.order) != len(marks):
            raise self._wrong("there is a cycle", str(ends))
        reached, used = {INPUT}, {OUTPUT}
        for node in self.order:
            if reached & set(self.sources(node.mark)):
                reached.add(node.mark)
        for node in reversed(self.order):
            if node.mark in used:
                used.update(self.sources(node.mark))
        lost = [mark for mark in marks if mark not in reached or mark not in used]
        if lost:
            raise self._wrong("a node lies on no way from the input to the output", str(lost))

    @staticmethod
    def _wrong(why: str, received: str) -> GenomeError:
        return GenomeError(why, where="Graph", received=received, fix="mutation and crossover make graphs that hold")
