"""Crossover: the child has the graph of the fitter parent, and matching genes take their values from either.

Disjoint and excess genes come from the fitter parent, as in NEAT; the child is therefore as valid as that parent.
"""

from __future__ import annotations

import numpy as np

from .genomes import Genome
from .graph import Node
from .ranges import Value


def crossover(fitter: Genome, other: Genome, rng: np.random.Generator) -> Genome:
    """A child of two; of parents that are equally fit the caller decides which comes first."""
    theirs = {node.mark: node for node in other.graph.nodes}
    nodes = [_node(node, theirs[node.mark], rng) for node in fitter.graph.nodes if node.mark in theirs]
    return Genome(fitter.graph.with_nodes(nodes), _values(fitter.settings, other.settings, rng))


def _node(one: Node, other: Node, rng: np.random.Generator) -> Node:
    """Layers of one kind mix their hyperparameters; of two kinds one is taken as it is."""
    if one.kind != other.kind:
        return one if rng.random() < 0.5 else other
    return Node(one.mark, one.kind, _values(one.values, other.values, rng))


def _values(
    one: tuple[tuple[str, Value], ...], other: tuple[tuple[str, Value], ...], rng: np.random.Generator
) -> tuple[tuple[str, Value], ...]:
    theirs = dict(other)
    return tuple((name, value if rng.random() < 0.5 else theirs.get(name, value)) for name, value in one)
