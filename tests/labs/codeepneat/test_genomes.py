"""Properties of genomes under any series of mutations and crossovers."""

from __future__ import annotations

from dataclasses import replace

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.labs.codeepneat import Evolution, Genome, GenomeError, SpaceError
from autoinit.labs.codeepneat.breeds import Blueprints, Breed, Modules
from autoinit.labs.codeepneat.crossover import crossover
from autoinit.labs.codeepneat.genomes import check_blueprint, check_module, species_of
from autoinit.labs.codeepneat.graph import INPUT, OUTPUT, Edge, Graph, Node
from autoinit.labs.codeepneat.marking import Markings
from autoinit.labs.codeepneat.mutation import redirected
from autoinit.labs.codeepneat.sampling import GROWING
from tests.labs.codeepneat.small_spaces import SETTINGS

NAMES = st.sampled_from(sorted(SETTINGS))
SEEDS = st.integers(0, 2**32)


def breed_of(kind: type[Breed], name: str) -> Breed:
    made = kind(SETTINGS[name].space, GROWING)
    if isinstance(made, Blueprints):
        made.species = (0, 1, 2)
    return made


def family(breed: Breed, rng: np.random.Generator, size: int = 12) -> list[Genome]:
    """Each is a child of two that are there already."""
    members = [breed.create(rng), breed.create(rng)]
    while len(members) < size:
        a, b = (members[k] for k in rng.integers(len(members), size=2))
        members.append(breed.child(a, None if rng.random() < 0.3 else b, rng))
    return members


@settings(deadline=None, max_examples=60)
@given(kind=st.sampled_from([Modules, Blueprints]), name=NAMES, seed=SEEDS)
def test_genomes_are_valid_whatever_happens(kind: type[Breed], name: str, seed: int) -> None:
    """Acyclic and connected, by an independent library; legal; the same as JSON; printable."""
    space = SETTINGS[name].space
    for genome in family(breed_of(kind, name), np.random.default_rng(seed)):
        graph = networkx.DiGraph((edge.source, edge.target) for edge in genome.graph.edges)
        assert networkx.is_directed_acyclic_graph(graph)
        marks = {node.mark for node in genome.graph.nodes}
        assert networkx.descendants(graph, INPUT) == marks
        assert networkx.ancestors(graph, OUTPUT) == (marks - {OUTPUT}) | {INPUT}
        (check_module if kind is Modules else check_blueprint)(genome, space)
        assert Genome.from_json(genome.to_json()) == genome
        assert len(str(genome.graph).splitlines()) == len(genome.graph.nodes)
        assert name != "chains" or len(genome.graph.edges) == len(genome.graph.nodes)
        if kind is Blueprints:
            assert set(species_of(genome)) <= {0, 1, 2} and dict(genome.settings).keys() == dict(space.settings).keys()


@settings(deadline=None, max_examples=25)
@given(kind=st.sampled_from([Modules, Blueprints]), name=NAMES, seed=SEEDS)
def test_the_same_seed_gives_the_same_genomes(kind: type[Breed], name: str, seed: int) -> None:
    one, other = (family(breed_of(kind, name), np.random.default_rng(seed)) for _ in range(2))
    assert one == other


@settings(deadline=None, max_examples=40)
@given(kind=st.sampled_from([Modules, Blueprints]), name=NAMES, seed=SEEDS)
def test_distances(kind: type[Breed], name: str, seed: int) -> None:
    """Symmetric, zero to oneself, and bounded."""
    breed = breed_of(kind, name)
    members = family(breed, np.random.default_rng(seed), 6)
    for a in members:
        assert breed.distance(a, a) == 0
        for b in members:
            assert breed.distance(a, b) == pytest.approx(breed.distance(b, a))
            assert 0 <= breed.distance(a, b) < 3  # two for genes without a match, one for hyperparameters


def test_children_differ_from_their_parents() -> None:
    breed = breed_of(Modules, "images")
    breed.evolution = Evolution(change=0.0, module_layer=0.0, module_connection=0.0)
    rng = np.random.default_rng(0)
    parents = [breed.create(rng) for _ in range(20)]
    changed = [parent != breed.child(parent, None, rng) for parent in parents]
    has_values = [any(node.settings for node in parent.graph.nodes) for parent in parents]
    assert changed == has_values and any(has_values)


def node(mark: int, units: int = 8, kind: str = "dense") -> Node:
    return Node(mark, kind, (("units", units), ("activation", "relu")))


END = Node(OUTPUT, "output", (("merge", "add"),))


def test_crossover_aligns_by_marks() -> None:
    """2 and 3 match, 4 is the fitter's own, 5 is the other's and lost."""
    fitter = Genome(Graph((END, node(2, 1), node(3, 2), node(4, 3)),
                          (Edge(0, 0, 2), Edge(1, 2, 3), Edge(2, 3, 4), Edge(3, 4, 1))))  # fmt: skip
    other = Genome(Graph((END, node(2, 11), node(3, 12), node(5, 13)),
                         (Edge(0, 0, 2), Edge(1, 2, 3), Edge(6, 3, 5), Edge(7, 5, 1))))  # fmt: skip
    rng = np.random.default_rng(0)
    children = [crossover(fitter, other, rng) for _ in range(200)]
    assert all(child.graph.edges == fitter.graph.edges for child in children)
    assert {child.graph[4]["units"] for child in children} == {3}
    for mark, values in ((2, (1, 11)), (3, (2, 12))):
        share = np.mean([child.graph[mark]["units"] == values[0] for child in children])
        assert {child.graph[mark]["units"] for child in children} == set(values) and 0.35 < share < 0.65


def test_distance_by_hand() -> None:
    """Nodes 1, 2, 3 and 1, 2, 5; edges 0, 1, 2 and 0, 6, 7.

    Of nodes 3 is disjoint and 5 excess, of edges 1, 2 disjoint and 6, 7 excess. N = 6. Node 2 differs by
    (12 - 8)/(24 - 8) in units, one of six hyperparameters; the output by nothing.
    """
    breed = breed_of(Modules, "table")
    values = {"units": 8, "activation": "relu", "regularizer": "l2", "strength": 1e-6, "initialization": "he_normal"}

    def dense(mark: int, **changes: object) -> Node:
        return Node(mark, "dense", (*{**values, **changes}.items(), ("merge", "add")))

    one = Genome(Graph((END, dense(2), dense(3)), (Edge(0, 0, 2), Edge(1, 2, 3), Edge(2, 3, 1))))
    other = Genome(Graph((END, dense(2, units=12), dense(5)), (Edge(0, 0, 2), Edge(6, 2, 5), Edge(7, 5, 1))))
    assert breed.distance(one, other) == pytest.approx(3 / 6 + 3 / 6 + (0 + (4 / 16) / 6) / 2)
    breed.evolution = Evolution(excess=2.0, disjoint=0.5, hyperparameters=0.0)
    assert breed.distance(one, other) == pytest.approx(2 * 3 / 6 + 0.5 * 3 / 6)


def test_marks_do_not_depend_on_who_was_first() -> None:
    """The same change has the same mark; a second node on the same connection another one."""
    marks = Markings()
    first = marks.node(INPUT, OUTPUT, set())
    assert marks.node(INPUT, OUTPUT, set()) == first
    again = marks.node(INPUT, OUTPUT, {first})
    assert again != first and marks.node(INPUT, OUTPUT, {first}) == again
    assert marks.edge(0, 2) == marks.edge(0, 2) and marks.edge(0, 2).mark != marks.edge(0, 3).mark


def test_pointers_to_extinct_species_are_redrawn() -> None:
    breed = breed_of(Blueprints, "images")
    rng = np.random.default_rng(4)
    for genome in family(breed, rng):
        new = redirected(genome, (1, 7), rng)
        assert set(species_of(new)) <= {1, 7} and new.graph.edges == genome.graph.edges
        for old, now in zip(genome.graph.nodes, new.graph.nodes, strict=True):
            assert old == now or old["species"] in (0, 2)


@pytest.mark.parametrize(
    ("nodes", "edges", "why"),
    [
        ((END, node(2), node(3)), ((0, 0, 2), (1, 2, 3), (2, 3, 2), (3, 3, 1)), "a cycle"),
        ((END, node(2)), ((0, 0, 1),), "on no way"),
        ((END, node(2)), ((0, 0, 1), (1, 0, 2)), "on no way"),
        ((END,), ((0, 0, 1), (1, 0, 9)), "leads to nowhere"),
        ((END,), ((0, 0, 1), (1, 0, 1)), "two edges are the same"),
        ((node(2),), ((0, 0, 2),), "one of them is the output"),
        ((END, node(2), node(2)), ((0, 0, 2), (1, 2, 1)), "marks of their own"),
    ],
)  # fmt: skip
def test_graphs_that_do_not_hold(nodes: tuple[Node, ...], edges: tuple[tuple[int, int, int], ...], why: str) -> None:
    with pytest.raises(GenomeError, match=f"(?s){why}.*received"):
        Graph(nodes, tuple(Edge(*edge) for edge in edges))


def test_broken_json() -> None:
    for text, why in (("{", "not JSON"), ("{}", "not a graph"), ('{"nodes": [1], "edges": []}', "not a graph")):
        with pytest.raises(GenomeError, match=why):
            Genome.from_json(text)


def test_genomes_of_another_space() -> None:
    table, end = SETTINGS["table"].space, Node(OUTPUT, "output", (("merge", "add"),))
    values = {"units": 1000, "activation": "relu", "regularizer": "l2", "strength": 1e-6, "initialization": "he_normal"}
    wide = Node(2, "dense", (*values.items(), ("merge", "add")))
    edges = (Edge(0, 0, 2), Edge(1, 2, 1))
    with pytest.raises(SpaceError, match="has no such layer"):
        check_module(Genome(Graph((end, wide), edges)), SETTINGS["images"].space)
    with pytest.raises(GenomeError, match=r"(?s)'units' is out of its range.*1000"):
        check_module(Genome(Graph((end, wide), edges)), table)
    with pytest.raises(GenomeError, match="dense has no units"):
        check_module(Genome(Graph((end, Node(2, "dense", (("merge", "add"),))), edges)), table)
    with pytest.raises(GenomeError, match="points to a species"):
        check_blueprint(Genome(Graph((end, wide), edges)), replace(table, settings=()))
    with pytest.raises(GenomeError, match="one of the space's merges"):
        check_module(Genome(Graph((Node(OUTPUT, "output"), wide.changed(units=9)), edges)), table)
    with pytest.raises(GenomeError, match="hyperparameters are not those of the space"):
        check_blueprint(Genome(Graph((end,), (Edge(0, 0, 1),))), table)
