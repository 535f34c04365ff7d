"""Networks that are assembled from random genomes: shapes, the rule for unlike tensors, sharing, JSON."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.labs.codeepneat import Genome, GenomeError, Input, Layer, NetworkGenome, Output
from autoinit.labs.codeepneat.assembly import Site, assemble
from autoinit.labs.codeepneat.graph import OUTPUT, Edge, Graph, Node
from autoinit.labs.codeepneat.layers import KINDS, MERGES, check_settings, shape_after
from autoinit.labs.codeepneat.sampling import random_genomes, random_network
from tests.labs.codeepneat.small_spaces import SETTINGS

NAMES = st.sampled_from(sorted(SETTINGS))
SEEDS = st.integers(0, 2**32)


@settings(deadline=None, max_examples=80)
@given(name=NAMES, seed=SEEDS)
def test_every_tensor_meets_its_shape(name: str, seed: int) -> None:
    """Every layer is legal for its task, and gives the shape that it says; all of it is needed."""
    space, given_input, outputs = SETTINGS[name]
    network = random_network(space, given_input, outputs, np.random.default_rng(seed))
    allowed = {layer.name for layer in space.layers} | set(space.merges)
    allowed |= {"projection", "dense", "embedding", space.head, *({"max_pooling1d", "max_pooling2d"} & set(KINDS))}
    shapes = {"input": given_input.shape}
    for layer in network.layers:
        assert layer.kind in allowed
        check_settings(layer.kind, dict(layer.settings), layer.name)
        incoming = [shapes[one] for one in layer.inputs]
        assert (len(incoming) > 1) == (layer.kind in MERGES)
        shapes[layer.name] = shape_after(layer.kind, dict(layer.settings), incoming, layer.name)
        assert layer.shape == shapes[layer.name] and min(layer.shape) >= 1
    assert [shapes[layer] for _, layer in network.outputs] == [(output.units,) for output in outputs]
    assert network.needed() == network.layers
    assert NetworkGenome.from_json(network.to_json()) == network
    assert NetworkGenome.from_json(network.to_json()).key == network.key
    assert len(str(network).splitlines()) == len(network.layers) + 2


@settings(deadline=None, max_examples=30)
@given(seed=SEEDS)
def test_soft_ordering(seed: int) -> None:
    """Outputs have their own mixes and last layers; everything else with weights is shared by all of them."""
    space, given_input, outputs = SETTINGS["soft"]
    blueprint, modules = random_genomes(space, np.random.default_rng(seed))
    network = assemble(blueprint, modules, space, given_input, outputs)
    needed = {output.name: {layer.owner for layer in network.needed([output.name])} for output in outputs}
    kinds = {layer.name: layer.kind for layer in network.layers}
    common = set.intersection(*needed.values())
    for owners in needed.values():
        weights = {o for o in owners if network.parameters_of(next(x for x in network.layers if x.name == o))}
        own = weights - common
        assert {kinds[o] for o in own} <= {"weighted_sum", "dense"}
        assert sum(kinds[o] == "dense" for o in own) == 1
    several = [node for node in blueprint.graph.nodes if _read(blueprint.graph, node.mark) > 1]
    for owners in needed.values():
        assert sum(kinds[o] == "weighted_sum" for o in owners - common) == len(several)


def _read(graph: Graph, mark: int) -> int:
    """How many nodes one reads in soft ordering: by connections, or because they are on the level before."""
    before = {m for m, level in graph.levels.items() if level == graph.levels[mark] - 1}
    return len(before | set(graph.sources(mark)))


def test_every_node_of_a_species_is_the_same_module() -> None:
    space, given_input, outputs = SETTINGS["table"]
    values = {"units": 16, "activation": "relu", "regularizer": "l2", "strength": 1e-6, "initialization": "he_normal"}
    module = Genome(chain(Node(2, "dense", (*values.items(), ("merge", "add")))))
    blueprint = Genome(chain(*(Node(k, "module", (("species", 3), ("merge", "add"))) for k in (2, 3))),
                       (("learning_rate", 0.001), ("initialization", "glorot_normal")))  # fmt: skip
    network = assemble(blueprint, {3: module}, space, given_input, outputs)
    assert [(layer.kind, layer.inputs, layer.shape) for layer in network.layers] == [
        ("dense", ("input",), (16,)), ("dense", ("dense_1",), (16,)), ("dense", ("dense_2",), (2,)),
    ]  # fmt: skip
    assert [layer["initialization"] for layer in network.layers] == ["he_normal", "he_normal", "glorot_normal"]
    assert network.parameters == 14 * 16 + 16 + 16 * 16 + 16 + 16 * 2 + 2
    assert dict(network.settings)["learning_rate"] == 0.001
    with pytest.raises(GenomeError, match=r"(?s)no module for a species.*\[3\]"):
        assemble(blueprint, {0: module}, space, given_input, outputs)


def chain(*nodes: Node) -> Graph:
    marks = [0, *(node.mark for node in nodes), OUTPUT]
    edges = tuple(Edge(k, a, b) for k, (a, b) in enumerate(pairwise(marks)))
    return Graph((Node(OUTPUT, "output", (("merge", "add"),)), *nodes), edges)


@settings(deadline=None)
@given(sizes=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9)), min_size=2, max_size=4),
       merge=st.sampled_from(MERGES))  # fmt: skip
def test_the_rule_for_unlike_tensors(sizes: list[tuple[int, int, int]], merge: str) -> None:
    """The smallest number of places along each axis; the largest number of channels, or their sum."""
    site = Site(Input((1, 1, 1)), "he_normal")
    for k, size in enumerate(sizes):
        site._shapes[f"x{k}"] = size
    merged = site.merged([f"x{k}" for k in range(len(sizes))], merge)
    channels = [c for _, _, c in sizes]
    expected = (min(h for h, _, _ in sizes), min(w for _, w, _ in sizes))
    assert site.shape(merged) == (*expected, sum(channels) if merge == "concatenate" else max(channels))
    projected = sum(layer.kind == "projection" for layer in site.layers)
    assert projected == (0 if merge == "concatenate" else sum(c != max(channels) for c in channels))
    pooled = sum(layer.kind == "max_pooling2d" for layer in site.layers)
    assert pooled == sum((h, w) != expected for h, w, _ in sizes)


def test_pooling_ends_where_nothing_is_left() -> None:
    space, _, outputs = SETTINGS["images"]
    pool = Genome(chain(*(Node(k, "max_pooling2d", (("merge", "add"),)) for k in (2, 3, 4))))
    blueprint = Genome(chain(Node(2, "module", (("species", 0), ("merge", "add")))),
                       (("learning_rate", 0.001), ("initialization", "he_normal")))  # fmt: skip
    network = assemble(blueprint, {0: pool}, space, Input((5, 9, 1)), outputs)
    assert [layer.shape for layer in network.layers[:-2]] == [(2, 4, 1), (1, 2, 1)]


DENSE = Layer("a", "dense", (("units", 3),), ("input",), (3,))


@pytest.mark.parametrize(
    ("layers", "outputs", "why"),
    [
        ([Layer("a", "dense", (("units", 3),), ("b",), (3,))], {"y": "a"}, "reads what comes before it"),
        ([DENSE, DENSE], {"y": "a"}, "a name of its own"),
        ([Layer("a", "dense", (("units", 3),), ("input",), (4,))], {"y": "a"}, "gives another shape"),
        ([Layer("a", "dense", (), ("input",), (3,))], {"y": "a"}, "dense has no units"),
        ([Layer("a", "dropout", (("rate", 0.1), ("seed", 1)), ("input",), (5,))], {"y": "a"}, "knows no seed"),
        ([Layer("a", "gru", (("units", 3),), ("input",), (3,))], {"y": "a"}, "takes tensors of 2 axes"),
        ([DENSE, Layer("b", "add", (), ("input", "a"), (3,))], {"y": "b"}, "takes tensors of one shape"),
        ([DENSE, Layer("b", "dense", (("units", 3),), ("a", "input"), (3,))], {"y": "b"}, "takes one tensor"),
        ([DENSE], {"y": "b"}, "an output is a layer"),
        ([DENSE], {}, "an output is a layer"),
        ([DENSE, Layer("b", "dense", (("units", 3),), ("a",), (3,))], {"y": "a"}, "no output needs"),
        ([DENSE, Layer("b", "dense", (("units", 3),), ("a",), (3,), "a")], {"y": "b"}, "read as many channels"),
        ([DENSE, Layer("b", "dense", (("units", 4),), ("input",), (4,), "a")], {"y": "b"}, "same kind and settings"),
    ],
)  # fmt: skip
def test_networks_that_do_not_hold(layers: list[Layer], outputs: dict[str, str], why: str) -> None:
    with pytest.raises(GenomeError, match=f"(?s){why}.*to fix"):
        NetworkGenome(Input((5,)), tuple(layers), tuple(outputs.items()))


@pytest.mark.parametrize(("text", "why"), [("[", "not JSON"), ("{}", "not a network"), ("[]", "not a network")])
def test_broken_json(text: str, why: str) -> None:
    with pytest.raises(GenomeError, match=why):
        NetworkGenome.from_json(text)


def test_keys_tell_networks_apart() -> None:
    def network(**changes: Any) -> NetworkGenome:
        data = {**json.loads(NetworkGenome(Input((5,)), (DENSE,), (("y", "a"),), (("learning_rate", 0.1),)).to_json())}
        return NetworkGenome.from_dict({**data, **changes})

    keys = {network().key, network(settings={"learning_rate": 0.2}).key, network(outputs={"z": "a"}).key}
    assert len(keys) == 3 and network().key == network().key


def test_inputs_of_unlike_outputs_are_one() -> None:
    """Two outputs of one trunk: everything but the last layers is there once."""
    space, given_input, _ = SETTINGS["averaged"]
    outputs = [Output("a", 2), Output("b", 3)]
    network = random_network(space, given_input, outputs, np.random.default_rng(0))
    one, both = len(network.needed(["a"])), len(network.layers)
    assert both == one + 1
