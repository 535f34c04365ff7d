"""Computation graphs of operators over one input x: trees whose leaves are x.

Every node has one outgoing edge. A learnable parameter sits on an edge and multiplies what flows along it;
the edge is therefore named by the node that it leaves. A place in a tree is a path: which child to take at
each step from the root, () being the root itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...errors import AutoInitError
from .operators import NAMES, OPERATORS

INPUT = "x"
PARAMETERS = ("alpha", "beta", "gamma")
LIMIT = 30
"""How many operators a graph has at most."""

Path = tuple[int, ...]


class FunctionError(AutoInitError, ValueError):
    """Not a function of the search space, be it written as a formula, a dictionary or a graph."""


@dataclass(frozen=True)
class Node:
    """x itself, or an operator on its operands; in both cases times a parameter if one is named."""

    operator: str
    operands: tuple[Node, ...] = ()
    parameter: str | None = None

    def __post_init__(self) -> None:
        if self.operator != INPUT and self.operator not in OPERATORS:
            raise FunctionError("unknown operator", where="graph", received=repr(self.operator),
                                fix=f"x, or one of {', '.join(NAMES)}")  # fmt: skip
        arity = 0 if self.operator == INPUT else OPERATORS[self.operator].arity
        if len(self.operands) != arity:
            raise FunctionError(f"{self.operator} takes {arity} operand{'s' * (arity != 1)}", where="graph",
                                received=f"{len(self.operands)}", fix="give as many as the operator takes")  # fmt: skip
        if self.parameter is not None and self.parameter not in PARAMETERS:
            raise FunctionError("unknown parameter", where="graph", received=repr(self.parameter),
                                fix=f"one of {', '.join(PARAMETERS)}")  # fmt: skip

    def walk(self, path: Path = ()) -> Iterator[tuple[Path, Node]]:
        """Every node with its place, a node before its operands, operands in order."""
        yield path, self
        for k, operand in enumerate(self.operands):
            yield from operand.walk((*path, k))

    def at(self, path: Path) -> Node:
        return self.operands[path[0]].at(path[1:]) if path else self

    def replaced(self, path: Path, new: Node) -> Node:
        """The same tree with `new` at that place."""
        if not path:
            return new
        first, rest = path[0], path[1:]
        operands = tuple(o.replaced(rest, new) if k == first else o for k, o in enumerate(self.operands))
        return replace(self, operands=operands)

    @property
    def size(self) -> int:
        """The number of operators."""
        return sum(node.operator != INPUT for _, node in self.walk())

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in use, in alphabetical order."""
        return tuple(sorted({node.parameter for _, node in self.walk() if node.parameter is not None}))


X = Node(INPUT)


def evaluate(node: Node, x: Any, operators: Mapping[str, Callable[..., Any]], parameters: Mapping[str, Any]) -> Any:
    """The value of a graph at x, computed with one framework's operators; parameters broadcast against x."""
    operands = [evaluate(operand, x, operators, parameters) for operand in node.operands]
    value = operators[node.operator](*operands) if operands else x
    return value if node.parameter is None else parameters[node.parameter] * value
