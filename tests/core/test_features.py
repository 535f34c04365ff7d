"""Generated weights are told from tokens and heads by where their axes come from."""

from __future__ import annotations

import pytest

from autoinit.core.graph.features import Features
from autoinit.core.graph.graph import Graph, Node, ParameterView, Value


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((8, 48), (8, 6, 8)), {1, 2}),
        (((8, 48), (8, 48, 1)), {1}),
        (((8, 10, 48), (80, 48)), {1}),
        (((8, 10, 48), (8, 480)), set()),
        (((8, 48), (8, 6, 8), (8, 48)), {1}),
        (((1, 48), (6, 8)), {0, 1}),
        (((4, 6), (6, 4)), set()),
    ],
)
def test_axes_through_a_reshape(shapes: tuple[tuple[int, ...], ...], expected: set[int]) -> None:
    steps = (("linear" if k == 0 else "reshape", shape, {}) for k, shape in enumerate(shapes))
    found, product = graph(*steps, other=(), equation="->")
    assert Features(found).axes(product.inputs[0]) == expected


def graph(*steps: tuple[str, tuple[int, ...], dict], other: tuple[int, ...], equation: str) -> tuple[Graph, Node]:
    """A linear layer on (4, 10, 16) or (4, 16), views of its output, and a product with another tensor."""
    x = Value(0, (*steps[0][1][:-1], 16))
    weight = ParameterView("w", (steps[0][1][-1], 16), (16, 1), 0, True)
    value = Value(1, steps[0][1])
    nodes = [Node("linear", (x, weight, None), (value,))]
    for k, (op, shape, attrs) in enumerate(steps[1:], start=2):
        made = Value(k, shape)
        nodes.append(Node(op, (value,), (made,), attrs))
        value = made
    product = Node("einsum", (value, Value(90, other)), (Value(91, ()),), {"equation": equation})
    return Graph([*nodes, product]), product


def test_a_matrix_that_a_layer_made_is_a_weight() -> None:
    found, product = graph(
        ("linear", (4, 48), {}), ("reshape", (4, 6, 8), {}), other=(4, 8), equation="boi,bi->bo"
    )  # fmt: skip
    assert Features(found).generated(product) == 0
    turned = ("permute", (4, 8, 6), {"perm": (0, 2, 1)})
    found, product = graph(
        ("linear", (4, 48), {}), ("reshape", (4, 6, 8), {}), turned, other=(4, 8), equation="bio,bi->bo"
    )
    assert Features(found).generated(product) == 0


def test_keys_of_attention_are_none() -> None:
    heads = ("reshape", (4, 10, 6, 8), {}), ("permute", (4, 6, 10, 8), {"perm": (0, 2, 1, 3)})
    found, product = graph(("linear", (4, 10, 48), {}), *heads, other=(4, 6, 10, 8), equation="bhkd,bhqd->bhqk")
    assert Features(found).generated(product) is None


def test_a_function_of_one_feature_each_is_none() -> None:
    found, product = graph(("linear", (4, 48), {}), other=(4, 48), equation="bi,bi->b")
    assert Features(found).generated(product) is None


def test_what_others_read_and_logits_are_none() -> None:
    """Queries by heads against embeddings of pairs look like generated matrices, but for their other uses."""
    found, product = graph(
        ("linear", (4, 10, 48), {}), ("reshape", (4, 10, 6, 8), {}), other=(4, 10, 10, 8), equation="bind,bijd->bnij"
    )
    assert Features(found).generated(product) == 0
    again = Node("reduce", (product.inputs[0],), (Value(92, ()),), {"kind": "sum", "axes": (), "keepdim": False})
    assert Features(Graph([*found.nodes, again])).generated(product) is None
    scaled = Node("elementwise", (product.outputs[0], None), (Value(92, ()),), {"fn": "mul", "scalars": {1: 0.5}})
    softmax = Node("softmax", scaled.outputs, (Value(93, ()),), {"axis": -1})
    assert Features(Graph([*found.nodes, scaled, softmax])).generated(product) is None
