"""First genomes: a connection from input to output, and a few nodes put on connections at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .genomes import POINTER, Genome
from .graph import INPUT, OUTPUT, Graph, Node
from .marking import Markings
from .mutation import insert
from .ranges import Choice, Ranges, Value
from .space import Space


def first_module(space: Space, most: int, markings: Markings, rng: np.random.Generator) -> Genome:
    """A chain of one to `most` random layers."""
    graph = _empty(space, markings, rng)
    for _ in range(int(rng.integers(1, most + 1))):
        graph = insert(graph, lambda mark: random_layer(mark, space, rng), markings, rng)
    return Genome(graph)


def first_blueprint(
    space: Space, species: Sequence[int], most: int, markings: Markings, rng: np.random.Generator
) -> Genome:
    """A chain of one to `most` nodes that point to random species, and random settings of the network."""
    graph = _empty(space, markings, rng)
    for _ in range(int(rng.integers(1, most + 1))):
        graph = insert(graph, lambda mark: random_pointer(mark, space, species, rng), markings, rng)
    return Genome(graph, drawn(space.settings, rng))


def random_layer(mark: int, space: Space, rng: np.random.Generator) -> Node:
    layer = space.layers[rng.integers(len(space.layers))]
    return Node(mark, layer.name, (*drawn(layer.ranges, rng), *_merge(space, rng)))


def random_pointer(mark: int, space: Space, species: Sequence[int], rng: np.random.Generator) -> Node:
    return Node(mark, POINTER, (("species", Choice(*species).draw(rng)), *_merge(space, rng)))


def drawn(ranges: Ranges, rng: np.random.Generator) -> tuple[tuple[str, Value], ...]:
    return tuple((name, given.draw(rng)) for name, given in ranges)


def _merge(space: Space, rng: np.random.Generator) -> tuple[tuple[str, Value], ...]:
    return () if space.merge is None else (("merge", space.merge.draw(rng)),)


def _empty(space: Space, markings: Markings, rng: np.random.Generator) -> Graph:
    return Graph((Node(OUTPUT, "output", _merge(space, rng)),), (markings.edge(INPUT, OUTPUT),))
