"""Four ways to change a function a little. Every choice is uniform among what is possible.

    insert      an operator on an edge; the other operand of a binary one is a unary operator of x
    remove      an operator; of the operands of a binary one a random one stays (x alone would be no function)
    change      an operator to another one of the same arity
    regenerate  every operator to a random one of the same arity

A parameter belongs to the edge that leaves a node, and lives as long as that node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .function import Function
from .graph import INPUT, LIMIT, FunctionError, Node, Path, X
from .operators import NAMES, OPERATORS, UNARY, of_arity

Mutation = Callable[[Function, np.random.Generator], Function]


def one_of(names: tuple[str, ...], rng: np.random.Generator) -> str:
    return names[rng.integers(len(names))]


def mutate(function: Function, rng: np.random.Generator) -> Function:
    """One of the four, among those that are possible."""
    possible = [mutation for mutation in MUTATIONS if not _obstacle(mutation, function)]
    return possible[rng.integers(len(possible))](function, rng)


def insert(function: Function, rng: np.random.Generator) -> Function:
    _demand(insert, function)
    names = NAMES if function.size + 2 <= LIMIT else UNARY
    name = one_of(names, rng)
    places = [path for path, _ in function.graph.walk()]
    path = places[rng.integers(len(places))]
    operands = [function.graph.at(path)]
    if OPERATORS[name].arity == 2:
        operands.insert(int(rng.integers(2)), Node(one_of(UNARY, rng), (X,)))
    return Function(function.graph.replaced(path, Node(name, tuple(operands))))


def remove(function: Function, rng: np.random.Generator) -> Function:
    _demand(remove, function)
    path = _operator(function, rng)
    kept = [operand for operand in function.graph.at(path).operands if path or operand.size]
    return Function(function.graph.replaced(path, kept[rng.integers(len(kept))]))


def change(function: Function, rng: np.random.Generator) -> Function:
    _demand(change, function)
    path = _operator(function, rng)
    node = function.graph.at(path)
    others = tuple(name for name in of_arity(len(node.operands)) if name != node.operator)
    return Function(function.graph.replaced(path, replace(node, operator=one_of(others, rng))))


def regenerate(function: Function, rng: np.random.Generator) -> Function:
    _demand(regenerate, function)
    return Function(_regenerated(function.graph, rng))


MUTATIONS: tuple[Mutation, ...] = (insert, remove, change, regenerate)


def _obstacle(mutation: Mutation, function: Function) -> str:
    """Why this mutation is not possible; empty if it is."""
    if mutation is insert:
        return f"it has {LIMIT} operators already" if function.size >= LIMIT else ""
    if mutation is remove:
        return "it would have no operator left" if function.size < 2 else ""
    return "" if function.size else "it has no operator"


def _demand(mutation: Mutation, function: Function) -> None:
    obstacle = _obstacle(mutation, function)
    if obstacle:
        raise FunctionError(f"this function cannot take it: {obstacle}", where=mutation.__name__,
                            received=function.formula, fix="function.mutate(rng) chooses a possible one")  # fmt: skip


def _operator(function: Function, rng: np.random.Generator) -> Path:
    """The place of a random operator."""
    places = [path for path, node in function.graph.walk() if node.operator != INPUT]
    return places[rng.integers(len(places))]


def _regenerated(node: Node, rng: np.random.Generator) -> Node:
    if node.operator == INPUT:
        return node
    name = one_of(of_arity(len(node.operands)), rng)
    return replace(node, operator=name, operands=tuple(_regenerated(operand, rng) for operand in node.operands))
