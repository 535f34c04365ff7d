"""Tables that are added to the data: learned positions, segments, biases of tokens.

A parameter of several rows that is added to data as it is, cut out, moved, resized, or row by row as indices say. What
is added to logits on their way to a softmax is none: it says who looks at whom.

Of embedding tables that are added to one another, one that is tied to a projection decides the size of the others: it
is as small as its projection asks for, and a table of positions or of segments that had variance one would drown it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from .feeding import Feeding, Made
from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of
from .trunk import ADDS
from .walk import Walk, multiplier


@dataclass(frozen=True, slots=True)
class Table:
    """One addition of a table."""

    name: str
    other: Value
    """What it is added to, or the rows of the tied table that decides."""
    ratio: float = 1.0
    """How large its rows are to be, those of the other being 1."""
    call: int = -1
    """Where a table that a tied one decides is looked up."""

    @property
    def by_tied(self) -> bool:
        return self.call >= 0


@dataclass(frozen=True, slots=True)
class _Term:
    """Rows of a table in a sum of such."""

    name: str
    rows: Value
    call: int
    factor: float = 1.0
    """What they are multiplied with on the way to the sum."""


def added_tables(graph: Graph, feeding: Feeding, tied: set[str]) -> list[Table]:
    """The first addition of every such table. `tied`: tables that a projection decides."""
    walk, found, decided = Walk(graph, feeding), dict[str, Table](), dict[str, Table]()
    sums: dict[int, list[_Term]] = {}
    for index, node in enumerate(graph.nodes):
        terms = _terms(index, node, sums) if tied else []
        sums.update((value.id, terms) for value in node.outputs)
        one = next((term for term in terms if term.name in tied), None)
        for term in terms if one is not None else ():
            if term.name not in tied and term.factor:
                ratio = one.factor / term.factor  # type: ignore[union-attr]
                decided.setdefault(term.name, Table(term.name, one.rows, ratio, term.call))  # type: ignore[union-attr]
        for slot in (0, 1) if node.attrs.get("fn") in ADDS and len(node.inputs) == 2 else ():
            table = _table(walk, node, slot)
            if table is not None and table.name not in tied:
                found.setdefault(table.name, table)
    return list((found | decided).values())


def looked_up(graph: Graph, feeding: Feeding, tied: set[str]) -> Iterator[tuple[int, float]]:
    """Calls that look rows up in a table of more rows than columns, but for logits, and (columns/rows)^2.

    `tied`: tables that a projection decides.
    """
    walk = Walk(graph, feeding)
    for index, node in enumerate(graph.nodes):
        table = node.inputs[0] if spec_of(node.op).looks_up else None
        if not isinstance(table, ParameterView) or table.name in tied or walk.to_shares(node):
            continue
        if table.shape[0] > table.shape[-1]:
            yield index, (table.shape[-1] / table.shape[0]) ** 2


def _terms(index: int, node: Node, sums: dict[int, list[_Term]]) -> list[_Term]:
    """The tables that the output is a sum of rows of; none if anything else is in it."""
    first, spec = node.inputs[0] if node.inputs else None, spec_of(node.op)
    if spec.looks_up:
        return [_Term(first.name, node.outputs[0], index)] if isinstance(first, ParameterView) else []
    known = [sums.get(ref.id, []) if isinstance(ref, Value) else [] for ref in node.inputs]
    if spec.moves:
        return known[0]
    number = multiplier(node)
    if number is not None:
        return [replace(term, factor=term.factor * number) for terms in known for term in terms]
    if node.attrs.get("fn") in ADDS and all(known):
        return [term for terms in known for term in terms]
    return []


def _table(walk: Walk, node: Node, slot: int) -> Table | None:
    ref, other = node.inputs[slot], node.inputs[1 - slot]
    if not isinstance(other, Value) or walk.feeding.kind(other) in (Made.PARAMETERS, Made.CONSTANTS):
        return None
    view, rival = _source(walk, ref), _source(walk, other)
    if view is None or _wide_axes(view) < 2 or walk.to_shares(node):
        return None
    if rival is not None and prod(rival.shape[:-1]) < prod(view.shape[:-1]):
        return None  # of two tables the one with more rows decides
    return Table(view.name, other)


def _wide_axes(view: ParameterView) -> int:
    return sum(n > 1 and step != 0 for n, step in zip(view.shape, view.stride, strict=True))


def _source(walk: Walk, ref: Reference) -> ParameterView | None:
    """The parameter that an operand shows rows of."""
    for _ in range(64):
        if isinstance(ref, ParameterView):
            return ref
        node = walk.node(ref) if isinstance(ref, Value) else None
        if node is None:
            return None
        spec = spec_of(node.op)
        if not (spec.looks_up or spec.moves or spec.resamples):
            return None
        if not spec.looks_up and len([r for r in node.inputs if r is not None]) != 1:
            return None
        ref = node.inputs[0]
    return None
