"""Graphs and the functions made of them: structure, identity, records, evaluation, imports."""

import json
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.pangaea import Function, FunctionError, minimal, parametrized
from autoinit.labs.pangaea.graph import LIMIT, Node, X

from .points import random_functions


def test_walk_at_and_replaced():
    graph = Function.parse("max(tanh(x), alpha * x**2)").graph
    walked = dict(graph.walk())
    assert [node.operator for node in walked.values()] == ["max", "tanh", "x", "square", "x"]
    assert all(graph.at(path) == node for path, node in walked.items())
    assert Function(graph.replaced((1, 0), Node("exp", (X,)))).formula == "max(tanh(x), alpha * exp(x)**2)"
    assert graph.replaced((), X) == X
    assert graph.size == 3 and graph.parameters == ("alpha",)


def test_equality_hash_and_key_follow_the_structure():
    one, same, other = (Function.parse(text) for text in ("x + tanh(x)", "(x)+tanh( x )", "tanh(x) + x"))
    assert one == same and hash(one) == hash(same) and one.key == same.key
    assert one != other and one.key != other.key
    assert len(one.key) == 12 and int(one.key, 16) >= 0
    assert one.key == "f6f928ed6f75"
    with pytest.raises(FrozenInstanceError):
        one.graph = X
    assert pickle.loads(pickle.dumps(one)) == one
    assert eval(repr(one), {"Function": Function}) == one
    assert len({f.key for f in random_functions()}) == len(set(random_functions()))


def test_records_go_through_json():
    for function in random_functions():
        assert Function.from_dict(json.loads(json.dumps(function.to_dict()))) == function


@pytest.mark.parametrize(
    ("record", "place"),
    [
        ([], "function: a node is a dictionary"),
        ({}, "function: a node has an operator"),
        ({"operator": "x", "extra": 1}, "function: a node has an operator"),
        ({"operator": "tanh", "operands": [{"operator": "tan"}]}, "function.operands[0]: unknown operator"),
        ({"operator": "tanh", "operands": [{"operator": "x"}] * 2}, "function: tanh takes 1 operand"),
        ({"operator": "x", "operands": [{"operator": "x"}]}, "function: x takes 0 operands"),
        ({"operator": "x", "parameter": "delta"}, "function: unknown parameter"),
        ({"operator": "x", "parameter": ["alpha"]}, "function: unknown parameter"),
        ({"operator": "tanh", "operands": 3}, "function: a node has an operator"),
    ],
)
def test_bad_records_are_refused_at_their_place(record, place):
    with pytest.raises(FunctionError) as error:
        Function.from_dict(record)
    assert str(error.value).startswith(place) and error.value.fix


def test_too_large_a_graph_is_refused():
    graph = X
    for _ in range(LIMIT):
        graph = Node("tanh", (graph,))
    assert Function(graph).size == LIMIT
    with pytest.raises(FunctionError, match=f"at most {LIMIT}"):
        Function(Node("tanh", (graph,)))
    record = {"operator": "x"}
    for _ in range(900):
        record = {"operator": "tanh", "operands": [record]}
    with pytest.raises(FunctionError, match=f"at most {LIMIT}"):
        Function.from_dict(record)
    with pytest.raises(FunctionError, match="made of a graph"):
        Function("tanh(x)")


def test_call_takes_parameters_that_broadcast():
    function = Function.parse("alpha * tanh(beta * x)")
    x = np.linspace(-2, 2, 12).reshape(4, 3)
    beta = np.array([0.5, 1.0, -2.0])
    np.testing.assert_array_equal(function(x, beta=beta), np.tanh(beta * x))
    np.testing.assert_array_equal(function(x), np.tanh(x))
    assert function(x.astype(np.float32)).dtype == np.float64
    with pytest.raises(OptionError, match=r"no such parameter[\s\S]*gamma[\s\S]*alpha, beta"):
        function(x, gamma=2.0)


def test_random_functions_follow_the_seed():
    again = [Function.random(np.random.default_rng(seed)) for seed in range(100)]
    assert again == random_functions()
    assert Function.random(np.random.default_rng(0)) != Function.random(np.random.default_rng(1))


def test_minimal_graphs():
    """unary(unary(x)) or binary(unary(x), unary(x)), each with probability 1/2."""
    rng = np.random.default_rng(0)
    graphs = [minimal(rng).graph for _ in range(1000)]
    pairs = sum(len(graph.operands) == 2 for graph in graphs)
    assert abs(pairs - 500) < 5 * np.sqrt(250)
    assert all(operand.operands == (X,) for graph in graphs for operand in graph.operands)
    assert len({graph.operator for graph in graphs}) == 35  # of 28 unary ones each misses 500 draws with e^-18


def test_parameters_are_drawn_between_none_and_all():
    rng = np.random.default_rng(0)
    counts = np.bincount([len(Function.random(rng, mutations=0).parameters) for _ in range(800)])
    assert len(counts) == 4 and np.all(np.abs(counts - 200) < 5 * np.sqrt(150))
    assert all(not Function.random(rng, parameters=0).parameters for _ in range(50))
    for _ in range(200):
        names = [node.parameter for _, node in Function.random(rng).graph.walk() if node.parameter]
        assert names == ["alpha", "beta", "gamma"][: len(names)]
    assert parametrized(Function.parse("gamma * tanh(beta * x)"), rng, 0) == Function.parse("tanh(x)")


@pytest.mark.parametrize("options", [{"mutations": -1}, {"mutations": 1.5}, {"parameters": 4}, {"parameters": True}])
def test_random_refuses_what_it_cannot_do(options):
    with pytest.raises(OptionError, match=f"'{next(iter(options))}' takes"):
        Function.random(np.random.default_rng(0), **options)


def test_no_framework_is_imported():
    code = (
        "import sys, numpy as np; from autoinit.labs.pangaea import Function;"
        "Function.random(np.random.default_rng(0)).mutate(np.random.default_rng(0))(1.0);"
        "print([m for m in ('torch', 'tensorflow', 'keras', 'jax', 'matplotlib') if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
