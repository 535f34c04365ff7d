"""Pointwise ops as functions of one earlier tensor: x * sigmoid(x) has one derivative, and no two."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..gaussian.expression import Expr, X, apply
from ..graph.graph import Node, Value
from ..graph.specs import spec_of
from ..signal.signal import LONGEST_CHAIN, Signal

Operand = Callable[[Node, int], Signal | None]


class Chain(NamedTuple):
    """What a tensor is, entry by entry: f of the tensor `of`."""

    of: Value
    f: Expr


class Chains:
    """Follows pointwise ops back to the tensor that all of their operands are functions of."""

    def __init__(self, makers: dict[int, Node], signals: dict[int, Signal], operand: Operand) -> None:
        self.makers, self.signals, self.operand = makers, signals, operand

    def of(self, node: Node) -> Chain | None:
        """None where operands come from different tensors, or one of them is broadcast."""
        made = self.signals.get(node.outputs[0].id)
        if made is None or made.source is made:
            return None
        found: dict[int, Value] = {}
        f = self._expression(node, node.outputs[0], made.source, found, 0)
        return Chain(next(iter(found.values())), f) if f is not None and len(found) == 1 else None

    def _expression(self, node: Node, out: Value, source: Signal, found: dict[int, Value], depth: int) -> Expr | None:
        if depth > LONGEST_CHAIN:
            return None
        spec = spec_of(node.op)
        if spec.moves and spec.pointwise:
            return self._operand(node, 0, out, source, found, depth)
        if not spec.pointwise or "fn" not in node.attrs:
            return None
        scalars, args = node.attrs.get("scalars", {}), list[Expr | float]()
        for slot, ref in enumerate(node.inputs):
            if ref is None:
                args.append(float(scalars[slot]))
            elif isinstance(ref, Value):
                inner = self._operand(node, slot, out, source, found, depth)
                if inner is None:
                    return None
                args.append(inner)
            else:
                signal = self.operand(node, slot)
                if signal is None or not signal.is_constant:
                    return None
                args.append(signal.mean)
        return apply(node.attrs["fn"], *args, params=tuple(node.attrs.get("params", ())))

    def _operand(
        self, node: Node, slot: int, out: Value, source: Signal, found: dict[int, Value], depth: int
    ) -> Expr | None:
        ref = node.inputs[slot]
        assert isinstance(ref, Value)
        signal = self.operand(node, slot)
        if signal is None or ref.shape != out.shape:
            return None if signal is None or not signal.is_constant else apply("identity", signal.mean)
        if signal.source is signal and signal.is_constant:
            return apply("identity", signal.mean)
        if signal.source is not source:
            return None
        maker = self.makers.get(ref.id)
        if signal is not source and maker is not None:
            before = dict(found)
            inner = self._expression(maker, out, source, found, depth + 1)
            if inner is not None:
                return inner
            found.clear()
            found.update(before)
        found[ref.id] = ref
        return X
