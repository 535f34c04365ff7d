"""New functions in three steps: a minimal graph, some mutations, and learnable parameters.

The minimal graph is unary(unary(x)) or binary(unary(x), unary(x)), each with probability 1/2, every operator
drawn uniformly among those of its arity. The number of parameters is uniform between none and as many as allowed;
they go to different edges, chosen uniformly, alpha to the first of them in the order of reading.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import OptionError
from .function import Function
from .graph import PARAMETERS, Node, X
from .mutation import mutate, one_of
from .operators import BINARY, UNARY


def random_function(rng: np.random.Generator, mutations: int = 3, parameters: int = 3) -> Function:
    if isinstance(mutations, bool) or not isinstance(mutations, int) or mutations < 0:
        raise OptionError("'mutations' takes a number of mutations", received=repr(mutations), fix="mutations=3")
    if isinstance(parameters, bool) or not isinstance(parameters, int) or not 0 <= parameters <= len(PARAMETERS):
        raise OptionError(f"'parameters' takes a number from 0 to {len(PARAMETERS)}", received=repr(parameters),
                          fix="parameters=3")  # fmt: skip
    function = minimal(rng)
    for _ in range(mutations):
        function = mutate(function, rng)
    return parametrized(function, rng, parameters)


def minimal(rng: np.random.Generator) -> Function:
    """One operator over one or two unary operators of x."""
    if rng.random() < 0.5:
        return Function(Node(one_of(UNARY, rng), (unary_of_x(rng),)))
    return Function(Node(one_of(BINARY, rng), (unary_of_x(rng), unary_of_x(rng))))


def parametrized(function: Function, rng: np.random.Generator, parameters: int = 3) -> Function:
    """The function with up to so many parameters on different edges, instead of those that it had."""
    graph = function.graph
    places = [path for path, _ in graph.walk()]
    number = min(int(rng.integers(parameters + 1)), len(places))
    chosen = sorted(rng.choice(len(places), size=number, replace=False).tolist())
    names = dict(zip([places[k] for k in chosen], PARAMETERS, strict=False))
    for path in places:
        graph = graph.replaced(path, replace(graph.at(path), parameter=names.get(path)))
    return Function(graph)


def unary_of_x(rng: np.random.Generator) -> Node:
    return Node(one_of(UNARY, rng), (X,))
