"""The registry of adjoints: one function per neutral op, filled by a decorator.

An adjoint sends the gradients of an op's outputs on to its operands::

    @adjoint("dropout")
    def dropout(node, back, g): back.send(node.inputs[0], ...)

It gets the node, the backward pass (signals of the forward one, `send`, notes) and one law for each output (None where
nobody asks for that output). An op without one has its gradients passed on as they are, and the plan says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...core.backward.passing import Adjoint
from ...errors import DuplicateRule

A = TypeVar("A", bound=Adjoint)

ADJOINTS: dict[str, Adjoint] = {}


def adjoint(*ops: str) -> Callable[[A], A]:
    """Register the adjoint of one or several ops. A second one for the same op is refused."""

    def register(function: A) -> A:
        for op in ops:
            if op in ADJOINTS:
                raise DuplicateRule(op)
            ADJOINTS[op] = function
        return function

    return register
