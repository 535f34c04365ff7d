"""Tables that are added to the data: learned positions, segments, biases of tokens.

A parameter of several rows that is added to data as it is, cut out, moved, resized, or row by row as indices say. What
is added to logits on their way to a softmax is none: it says who looks at whom.
"""

from __future__ import annotations

from dataclasses import dataclass

from .feeding import Feeding, Made
from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of
from .trunk import ADDS
from .walk import Walk


@dataclass(frozen=True, slots=True)
class Table:
    """One addition of a table."""

    name: str
    other: Value
    """What it is added to."""


def added_tables(graph: Graph, feeding: Feeding) -> list[Table]:
    """The first addition of every such table."""
    walk, found = Walk(graph, feeding), dict[str, Table]()
    for node in graph.nodes:
        if node.attrs.get("fn") not in ADDS or len(node.inputs) != 2:
            continue
        for slot in (0, 1):
            table = _table(walk, node, slot)
            if table is not None:
                found.setdefault(table.name, table)
    return list(found.values())


def _table(walk: Walk, node: Node, slot: int) -> Table | None:
    ref, other = node.inputs[slot], node.inputs[1 - slot]
    if not isinstance(other, Value) or walk.feeding.kind(other) in (Made.PARAMETERS, Made.CONSTANTS):
        return None
    view = _source(walk, ref)
    if view is None or _wide_axes(view) < 2 or walk.to_shares(node):
        return None
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
