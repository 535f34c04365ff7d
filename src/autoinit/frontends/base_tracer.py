"""What every tracer keeps: the graph that it makes, where in the model it is, and how often what was called there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..core.graph.checking import checked
from ..core.graph.graph import Graph, Node, Reference, Value


class BaseTracer:
    """Makes nodes. A framework adds how tensors are followed: `reference` and `set`."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()
        self.module = ""
        """The place in the model that is running."""
        self.occurrence = 0
        """Which call of its op at this place is being followed; 0: none of the model's own."""
        self.suppressed = 0
        """Positive inside of what is one node: nothing is added."""
        self.counts: Counter[tuple[str, str]] = Counter()
        self._next = 0

    def reference(self, item: Any) -> Reference:
        """What a tensor stands for in the graph."""
        raise NotImplementedError

    def set(self, tensor: Any, reference: Reference) -> None:
        """From now on the tensor stands for `reference`."""
        raise NotImplementedError

    def value(self, shape: Any) -> Value:
        self._next += 1
        return Value(self._next, tuple(int(n) for n in shape))

    def add(self, node: Node) -> None:
        if not self.suppressed:
            self.graph.nodes.append(checked(node))

    def counted(self, name: str) -> int:
        """One more call of an op at this place: its number, from 1."""
        self.counts[self.module, name] += 1
        return self.counts[self.module, name]

    def custom_node(
        self, references: Sequence[Reference], outputs: Sequence[Any], name: str, call: int, *, rule: Any, owner: Any,
        users_own: bool = True,
    ) -> None:  # fmt: skip
        """One node for a layer or function that has a rule of its own, the user's or (scale-free) one of ours."""
        values = tuple(self.value(t.shape) for t in outputs)
        attrs = {"rule": rule, "owner": owner, "users_own": users_own, "scale_free": not users_own}
        self.add(Node("custom", tuple(references), values, attrs, self.module, name, call))
        for tensor, value in zip(outputs, values, strict=True):
            self.set(tensor, value)
