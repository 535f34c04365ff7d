"""What a value is a function of, entry by entry: a gate may be taken apart into many calls."""

from __future__ import annotations

from ..gaussian.activations import FUNCTIONS
from ..gaussian.expression import Expr, X, apply
from .graph import Value
from .walk import Walk

LONGEST = 64
"""So many calls are looked back through."""


class Functions:
    """Values as expressions of the last value before them that all of their operands are made of."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self._known: dict[int, tuple[Expr, int]] = {}

    def of(self, ref: Value) -> Expr:
        """`X` where nothing is known: a parameter takes part, or two tensors of data."""
        return self._of(ref, 0)[0]

    def _of(self, ref: Value, depth: int) -> tuple[Expr, int]:
        """(the expression, the value that its X is)"""
        if ref.id not in self._known:
            self._known[ref.id] = self._made(ref, depth) or (X, ref.id)
        return self._known[ref.id]

    def _made(self, ref: Value, depth: int) -> tuple[Expr, int] | None:
        node = self.walk.node(ref)
        name = None if node is None else node.attrs.get("fn")
        if node is None or name not in FUNCTIONS or depth == LONGEST:
            return None
        scalars, args, sources = node.attrs.get("scalars") or {}, list[Expr | float](), set[int]()
        for slot, operand in enumerate(node.inputs):
            if operand is None:
                args.append(float(scalars[slot]))
            elif isinstance(operand, Value) and operand.shape == ref.shape:
                inner, source = self._of(operand, depth + 1)
                args.append(inner)
                sources.add(source)
            else:
                return None
        if len(sources) != 1:
            return None
        return apply(name, *args, params=tuple(node.attrs.get("params", ()))), sources.pop()
