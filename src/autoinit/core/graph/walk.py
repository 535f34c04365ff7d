"""Going back and forth along the data of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod

from .feeding import Feeding, Made
from .graph import Graph, Node, ParameterView, Reference, Value
from .norms_by_hand import NormsByHand
from .specs import spec_of
from .specs.spec import Role


class Walk:
    """Who makes and who reads a value, and what calls are to the data that goes through them."""

    def __init__(self, graph: Graph, feeding: Feeding) -> None:
        self.graph, self.feeding, self.nodes = graph, feeding, graph.nodes
        self._weights: dict[int, bool] = {}
        self.producer = {value.id: index for index, node in enumerate(self.nodes) for value in node.outputs}
        self.readers: dict[int, list[int]] = defaultdict(list)
        outputs = {value.id for value in graph.outputs if isinstance(value, Value)}
        for index, node in reversed(list(enumerate(self.nodes))):
            if spec_of(node.op).moves and not any(v.id in outputs or self.readers[v.id] for v in node.outputs):
                continue  # a copy that nobody reads
            for ref in node.inputs:
                if isinstance(ref, Value):
                    self.readers[ref.id].append(index)
        for readers in self.readers.values():
            readers.reverse()
        self.by_hand = NormsByHand(self.node)

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
        if spec.weights:
            return any(self.feeding.kind(node.inputs[k]) in (Made.PARAMETERS, Made.BOTH) for k in spec.weights)
        if spec.factors:  # data with a gain or a bias is no weight
            return any(self.feeding.kind(ref) is Made.PARAMETERS or self._is_made(ref, node) for ref in node.inputs)
        return any(operand.role is Role.WEIGHT for operand in spec.operands)

    def _is_made(self, ref: Reference, node: Node) -> bool:
        """A weight that is made of data, too."""
        return isinstance(ref, Value) and self.feeding.strength.get(ref.id, 0) >= self.feeding.needed(node)

    def is_norm(self, index: int) -> bool:
        """A norm of the data itself: with given statistics it is a gain."""
        node = self.nodes[index]
        spec = spec_of(node.op)
        if "fn" in node.attrs:
            return len(self.data(node)) == 2 and self.by_hand.at(node) is not None
        return spec.degree == 0 and spec.parameters_only and not node.attrs.get("use_running")

    def is_part(self, index: int) -> bool:
        """A call that takes some of the entries of its operand."""
        node = self.nodes[index]
        first = node.inputs[0] if node.inputs else None
        return spec_of(node.op).moves and first is not None and prod(node.outputs[0].shape) < prod(first.shape)

    def is_normed(self, index: int) -> bool:
        """Nobody but a norm reads the sum."""
        for _ in range(8):
            (total,) = self.nodes[index].outputs
            readers = set(self.readers[total.id])
            if len(readers) != 1:
                return self._is_normed_by_hand(total, readers)
            (index,) = readers
            if self.is_norm(index):
                return True
            if not spec_of(self.nodes[index].op).moves or len(self.nodes[index].outputs) != 1:
                return False
        return False

    def _is_normed_by_hand(self, total: Value, readers: set[int]) -> bool:
        subs = [k for k in readers if self.nodes[k].attrs.get("fn") == "sub"]
        behind = {k for reader in subs for k in self.readers[self.nodes[reader].outputs[0].id]}
        norms = [self.by_hand.at(self.nodes[k]) for k in readers | behind]
        calls = {id(self.nodes[k]) for k in readers}
        return any(norm is not None and norm.of.id == total.id and calls <= norm.calls for norm in norms)

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
