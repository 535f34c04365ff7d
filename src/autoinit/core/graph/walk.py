"""Going back and forth along the data of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod

from .feeding import Feeding, Made
from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of
from .specs.spec import Role


class Walk:
    """Who makes and who reads a value, and what calls are to the data that goes through them."""

    def __init__(self, graph: Graph, feeding: Feeding) -> None:
        self.graph, self.feeding, self.nodes = graph, feeding, graph.nodes
        self._weights: dict[int, bool] = {}
        self.producer = {value.id: index for index, node in enumerate(self.nodes) for value in node.outputs}
        self.readers: dict[int, list[int]] = defaultdict(list)
        for index, node in enumerate(self.nodes):
            for ref in node.inputs:
                if isinstance(ref, Value):
                    self.readers[ref.id].append(index)

    def index(self, ref: Value) -> int:
        return self.producer.get(ref.id, -1)

    def data(self, node: Node) -> list[Value]:
        """Operands that are not made of parameters alone."""
        return [r for r in node.inputs if isinstance(r, Value) and self.feeding.kind(r) is not Made.PARAMETERS]

    def node(self, ref: Value) -> Node | None:
        index = self.index(ref)
        return None if index < 0 else self.nodes[index]

    def readers_of(self, index: int) -> Iterator[int]:
        for value in self.nodes[index].outputs:
            yield from self.readers[value.id]
            if any(value is out for out in self.graph.outputs):
                yield -1

    def is_weight(self, index: int) -> bool:
        """A call with a weight of its own."""
        if index not in self._weights:
            self._weights[index] = self._has_weight(self.nodes[index])
        return self._weights[index]

    def _has_weight(self, node: Node) -> bool:
        spec = spec_of(node.op)
        if spec.looks_up:
            return False
        if spec.weights or spec.factors:
            slots = spec.weights or range(len(node.inputs))
            return any(self.feeding.kind(node.inputs[k]) in (Made.PARAMETERS, Made.BOTH) for k in slots)
        return any(operand.role is Role.WEIGHT for operand in spec.operands)

    def is_norm(self, index: int) -> bool:
        """A norm of the data itself: with given statistics it is a gain."""
        node = self.nodes[index]
        spec = spec_of(node.op)
        return spec.degree == 0 and spec.parameters_only and not node.attrs.get("use_running")

    def is_normed(self, index: int) -> bool:
        """Nobody but a norm reads the sum."""
        readers = {reader for value in self.nodes[index].outputs for reader in self.readers[value.id]}
        return len(readers) == 1 and self.is_norm(next(iter(readers)))

    def to_shares(self, node: Node) -> bool:
        """On the way to a softmax: logits, not a signal."""
        value: Value | None = node.outputs[0]
        for _ in range(8):
            assert value is not None
            readers = [self.nodes[k] for k in self.readers[value.id]]
            if any(spec_of(r.op).shares for r in readers):
                return True
            spec = spec_of(readers[0].op) if len(readers) == 1 else None
            if spec is None or not (spec.moves or spec.masks or spec.pointwise):
                return False
            value = readers[0].outputs[0]
        return False

    def stripped(self, ref: Value) -> Value:
        """Back through what moves entries, pools them, drops some, or multiplies all by a number or a gain."""
        for _ in range(64):
            node = self.node(ref)
            if node is None:
                return ref
            spec = spec_of(node.op)
            data = self.data(node)
            whole = len(data) == 1 and prod(ref.shape) >= prod(data[0].shape)
            looks = (spec.moves and whole) or spec.resamples or node.attrs.get("fn") in ("mul", "div", "neg")
            if not looks or len(data) != 1 or (not spec.pointwise and any(map(_is_parameter, node.inputs))):
                return ref
            ref = data[0]
        return ref


def multiplier(node: Node) -> float | None:
    """The size of the number that a call multiplies by, if that is what it does."""
    fn, scalars = node.attrs.get("fn"), node.attrs.get("scalars") or {}
    if fn == "mul" and len(scalars) == 1:
        return abs(float(*scalars.values()))
    if fn == "div" and list(scalars) == [1] and scalars[1]:
        return 1.0 / abs(float(scalars[1]))
    return None


def _is_parameter(ref: Reference) -> bool:
    return isinstance(ref, ParameterView)
