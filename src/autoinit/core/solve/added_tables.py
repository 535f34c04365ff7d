"""Embedding tables that are added to one another: one that is tied to a projection decides the size of the others.

A tied table is as small as its projection asks for. A table of positions or of segments that is added to it and had
variance one would drown it.
"""

from __future__ import annotations

from ..graph.graph import Graph, Node, ParameterView, Reference, Value
from ..graph.specs import spec_of

Leaves = dict[str, float]
"""The tables that a value is a sum of rows of, and what each was multiplied with."""


def partners(graph: Graph, tied: set[str]) -> dict[str, tuple[str, float]]:
    """Table -> (the tied table that it is added to, how large its entries are to be, those of the tied one being 1)."""
    found: dict[str, tuple[str, float]] = {}
    sums: dict[int, Leaves] = {}
    for node in graph.nodes if tied else ():
        leaves = _leaves(node, sums)
        if not leaves:
            continue
        sums.update((value.id, leaves) for value in node.outputs)
        decides = next((name for name in leaves if name in tied), None)
        for name, factor in leaves.items() if decides is not None and len(leaves) > 1 else ():
            if name not in tied and factor:
                found.setdefault(name, (decides, leaves[decides] / factor))  # type: ignore[arg-type, index]
    return found


def _leaves(node: Node, sums: dict[int, Leaves]) -> Leaves:
    first, spec = node.inputs[0] if node.inputs else None, spec_of(node.op)
    if spec.looks_up:
        return {first.name: 1.0} if isinstance(first, ParameterView) else {}
    known = [_known(ref, sums) for ref in node.inputs]
    if spec.moves:
        return known[0]
    fn, scalars = node.attrs.get("fn"), node.attrs.get("scalars", {})
    if fn == "mul" and scalars:
        (number,) = scalars.values()
        return {name: factor * abs(number) for leaves in known for name, factor in leaves.items()}
    if fn in ("add", "sub") and not scalars and all(known):
        return {name: factor for leaves in known for name, factor in leaves.items()}
    return {}


def _known(ref: Reference, sums: dict[int, Leaves]) -> Leaves:
    return sums.get(ref.id, {}) if isinstance(ref, Value) else {}
