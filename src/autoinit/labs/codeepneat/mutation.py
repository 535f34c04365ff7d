"""Changes of a genome, each with its probability in the settings: a new node, a new connection, new hyperparameters.

A new node takes the place of a random connection. A new connection is drawn among all that leave the graph without
a cycle. With the probability `change`, each node changes one of its hyperparameters; of a merge only if
several connections meet there. A child that came out unchanged changes one hyperparameter more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .genomes import Genome
from .graph import OUTPUT, Graph, Node
from .marking import Markings
from .ranges import Range, Ranges, Value

TRIES = 20
"""How often another hyperparameter is tried when a change leaves a genome as it was (a choice of one value)."""

NewNode = Callable[[int], Node]
RangesOf = Callable[[Node], Ranges]


def insert(graph: Graph, new: NewNode, markings: Markings, rng: np.random.Generator) -> Graph:
    """A node in the place of a random connection."""
    old = graph.edges[rng.integers(len(graph.edges))]
    mark = markings.node(old.source, old.target, {node.mark for node in graph.nodes})
    before, after = markings.edge(old.source, mark), markings.edge(mark, old.target)
    return graph.split(old, new(mark), before, after)


def connect(graph: Graph, markings: Markings, rng: np.random.Generator) -> Graph:
    """A random new connection; the graph itself if there is none, or if tensors cannot be merged."""
    possible = graph.pairs_to_connect() if graph[OUTPUT].merge is not None else []
    if not possible:
        return graph
    return graph.with_edge(markings.edge(*possible[rng.integers(len(possible))]))


def change_node(graph: Graph, mark: int, ranges_of: RangesOf, rng: np.random.Generator) -> Graph:
    """Another value of one hyperparameter of a node, if it has any that matters."""
    node = graph[mark]
    possible = [pair for pair in ranges_of(node) if pair[0] != "merge" or len(graph.sources(mark)) > 1]
    if not possible:
        return graph
    name, allowed = possible[rng.integers(len(possible))]
    return graph.with_nodes([node.changed(**{name: allowed.changed(node[name], rng)})])


def change_settings(genome: Genome, ranges: Ranges, rng: np.random.Generator) -> Genome:
    """Another value of one of the settings of the whole network."""
    if not ranges:
        return genome
    chosen, allowed = ranges[rng.integers(len(ranges))]
    return Genome(genome.graph, tuple((n, allowed.changed(v, rng) if n == chosen else v) for n, v in genome.settings))


def mutate(
    genome: Genome, *, new_node: NewNode, ranges_of: RangesOf, settings: Ranges, markings: Markings,
    rng: np.random.Generator, node: float, connection: float, change: float,
) -> Genome:  # fmt: skip
    """All of these changes, each with its probability; what comes out always differs if it can.

    new_node: a random node with the mark that it is given.
    ranges_of: the hyperparameters of a node, the merge among them.
    settings: those of the whole network.
    node, connection, change: probabilities.
    """
    graph = genome.graph
    if rng.random() < node:
        graph = insert(graph, new_node, markings, rng)
    if rng.random() < connection:
        graph = connect(graph, markings, rng)
    for one in graph.nodes:
        if rng.random() < change:
            graph = change_node(graph, one.mark, ranges_of, rng)
    child = Genome(graph, genome.settings)
    if rng.random() < change:
        child = change_settings(child, settings, rng)
    return child


def change_something(genome: Genome, ranges_of: RangesOf, settings: Ranges, rng: np.random.Generator) -> Genome:
    """One hyperparameter somewhere."""
    for _ in range(TRIES):
        place = int(rng.integers(len(genome.graph.nodes) + bool(settings)))
        if place == len(genome.graph.nodes):
            child = change_settings(genome, settings, rng)
        else:
            mark = genome.graph.nodes[place].mark
            child = Genome(change_node(genome.graph, mark, ranges_of, rng), genome.settings)
        if child != genome:
            return child
    return genome


def with_merge(ranges: Ranges, merge: Range | None) -> Ranges:
    """The hyperparameters of a node with those of its merge."""
    return ranges if merge is None else (*ranges, ("merge", merge))


def redirected(blueprint: Genome, living: tuple[int, ...], rng: np.random.Generator) -> Genome:
    """Pointers to species that are extinct point to a living one, drawn anew."""
    new: list[Node] = []
    for one in blueprint.graph.nodes:
        if one.mark != OUTPUT and one["species"] not in living:
            species: Value = living[rng.integers(len(living))]
            new.append(one.changed(species=species))
    return Genome(blueprint.graph.with_nodes(new), blueprint.settings) if new else blueprint
