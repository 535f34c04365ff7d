"""Mutations: what each does, that it stays in the search space, and when it is not possible."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autoinit.labs.pangaea import Function, FunctionError, change, insert, mutate, regenerate, remove
from autoinit.labs.pangaea.graph import INPUT, LIMIT, Node, X
from autoinit.labs.pangaea.mutation import MUTATIONS

seeds = st.integers(0, 2**32 - 1)


def operators(function):
    return [node.operator for _, node in function.graph.walk() if node.operator != INPUT]


def shape(node):
    """The graph without the operators' names."""
    return (node.parameter, *map(shape, node.operands))


def random_function(seed, **options):
    return Function.random(np.random.default_rng(seed), **options)


@given(seeds, seeds)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_insert_adds_an_operator_and_keeps_everything_else(one, two):
    function = random_function(one)
    inserted = insert(function, np.random.default_rng(two))
    more = Counter(operators(inserted))
    more.subtract(operators(function))
    assert min(more.values()) >= 0 and inserted.size - function.size in (1, 2)
    assert inserted.parameters == function.parameters
    # Some node of the new graph can be taken out again.
    outer = [path for path, node in inserted.graph.walk() if node.operator != INPUT]
    back = [inserted.graph.replaced(p, o) for p in outer for o in inserted.graph.at(p).operands]
    assert function.graph in back


@given(seeds, seeds)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_remove_takes_a_node_out(one, two):
    function = random_function(one)
    assume(function.size > 1)
    removed = remove(function, np.random.default_rng(two))
    places = [path for path, node in function.graph.walk() if node.operator != INPUT]
    possible = [function.graph.replaced(p, o) for p in places for o in function.graph.at(p).operands]
    assert removed.graph in possible and 0 < removed.size < function.size


@given(seeds, seeds)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_change_and_regenerate_keep_the_shape(one, two):
    function = random_function(one)
    changed = change(function, np.random.default_rng(two))
    regenerated = regenerate(function, np.random.default_rng(two))
    assert shape(changed.graph) == shape(regenerated.graph) == shape(function.graph)
    assert sum(a != b for a, b in zip(operators(function), operators(changed), strict=True)) == 1


@given(seeds, st.integers(0, 12))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_many_mutations_stay_in_the_search_space(seed, number):
    function = random_function(seed, mutations=number)
    assert 1 <= function.size <= LIMIT
    assert function.mutate(np.random.default_rng(seed)) == mutate(function, np.random.default_rng(seed))
    assert np.shape(function(np.linspace(-3, 3, 7))) == (7,)


def test_regenerate_draws_every_operator_anew():
    function = Function.parse("tanh(tanh(x)) + tanh(x)")
    rng = np.random.default_rng(0)
    drawn = [operators(regenerate(function, rng)) for _ in range(300)]
    for column in zip(*drawn, strict=True):
        arity = 2 if column[0] in ("add", "subtract", "multiply", "divide", "power", "max", "min") else 1
        assert len(set(column)) == (7 if arity == 2 else 28)  # a unary one misses 300 draws with (27/28)^300 = 2e-5


def test_mutations_are_chosen_evenly():
    """Sizes tell insert (+1, +2) and remove (−1) from the two others (0)."""
    function = Function.parse("tanh(sigmoid(exp(x)))")
    rng = np.random.default_rng(0)
    growth = np.array([function.mutate(rng).size - function.size for _ in range(1000)])
    spread = 5 * np.sqrt(1000 * 0.25 * 0.75)
    assert abs((growth > 0).sum() - 250) < spread
    assert abs((growth < 0).sum() - 250) < spread


def test_a_new_binary_operator_takes_the_old_node_on_either_side():
    rng = np.random.default_rng(0)
    made = [insert(Function.parse("tanh(x)"), rng).graph for _ in range(400)]
    pairs = [graph.operands for graph in made if len(graph.operands) == 2]
    tanh = Node("tanh", (X,))
    assert {operands.index(tanh) for operands in pairs if tanh in operands} == {0, 1}


def test_impossible_mutations():
    rng = np.random.default_rng(0)
    full = X
    for _ in range(LIMIT):
        full = Node("tanh", (full,))
    for mutation, function in (
        (insert, Function(full)),
        (remove, Function.parse("tanh(x)")),
        (remove, Function.parse("x")),
        (change, Function.parse("x")),
        (regenerate, Function.parse("x")),
    ):
        with pytest.raises(FunctionError, match=f"{mutation.__name__}: this function cannot take it"):
            mutation(function, rng)
    assert all(Function(full).mutate(rng).size <= LIMIT for _ in range(40))
    assert all(Function.parse("x").mutate(rng).size in (1, 2) for _ in range(40))
    nearly = Function(full.operands[0])
    assert all(insert(nearly, rng).size == LIMIT for _ in range(40))


def test_mutations_follow_the_seed_and_leave_the_function_alone():
    function = Function.parse("max(alpha * x, tanh(x))")
    for mutation in MUTATIONS:
        assert mutation(function, np.random.default_rng(3)) == mutation(function, np.random.default_rng(3))
    assert function == Function.parse("max(alpha * x, tanh(x))")
