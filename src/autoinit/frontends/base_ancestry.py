"""Following tensors back to where their randomness comes from: limits, and sets of starts."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TypeVar

from ..core.graph.graph import Node, ParameterView, Value

MOST_OPS = 400
"""A value that needs more ops than this since the last weights is not traced back."""
LARGEST = 2**23
"""Tensors with more entries are not sampled."""
MOST_STARTS = 4
"""What comes of more starts than this counts as related to nothing."""
CONTRACTIONS = {"linear", "bilinear", "einsum", "matmul", "conv", "grouped_linear", "recurrent"}
DRAWN = {"dropout", "noise", "custom", "embedding"}

S = TypeVar("S")


def starting(nodes: Iterable[Node], seen: Container[int]) -> set[int]:
    """Values (by number) that weights and chance make. `seen`: those that are tensors of the framework; what completes
    a call that made a start is one too, as nobody else sees what it is given."""
    weights: set[int] = set()
    made: set[int] = set()
    for node in nodes:
        values = [r.id for r in node.inputs if isinstance(r, Value)]
        views = any(isinstance(r, ParameterView) for r in node.inputs)
        if node.op not in DRAWN and (values or views) and all(number in weights for number in values):
            weights.update(v.id for v in node.outputs)
        elif (
            node.op in DRAWN
            or any(number in made and number not in seen for number in values)
            or (node.op in CONTRACTIONS and (views or any(number in weights for number in values)))
        ):
            made.update(v.id for v in node.outputs)
    return made


def union(parts: Iterable[frozenset[S] | None]) -> frozenset[S] | None:
    """The starts of what was made of these parts; None where they are too many, or not known."""
    starts: frozenset[S] = frozenset()
    for part in parts:
        if part is None:
            return None
        starts |= part
    return starts if len(starts) <= MOST_STARTS else None


def share(one: frozenset[S] | None, other: frozenset[S] | None) -> bool:
    """Whether two tensors have a start in common."""
    return bool((one or frozenset()) & (other or frozenset()))
