"""Which axes of a tensor are features that one layer made: how a generated weight is told from tokens and heads.

A hypernetwork's last layer makes out * in features, which are then split into two axes: a product that contracts one of
them and keeps the other one as its output uses the tensor as a weight. In attention the axis that a product keeps is
one of tokens, and heads are shared by both operands. As the two can look alike (queries by heads against embeddings of
pairs), what other ops read too, and what a softmax follows, is no weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .canonical.layout import Layout, Repeat, of_base
from .canonical.moves import MOVES
from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of


class Features:
    """For every value the axes that are features of the last layer (through views and functions only)."""

    def __init__(self, graph: Graph) -> None:
        self._views: dict[int, Layout] = {}
        """Views of what a layer made, of which nothing but its features counts: all else is a `Repeat`."""
        self._readers = Counter(ref.id for node in graph.nodes for ref in node.inputs if isinstance(ref, Value))
        self._logits: set[int] = set()
        for node in reversed(graph.nodes):
            spec = spec_of(node.op)
            passed_on = spec.moves or spec.pointwise or spec.masks
            if spec.shares or (passed_on and any(value.id in self._logits for value in node.outputs)):
                self._logits.update(ref.id for ref in node.inputs if isinstance(ref, Value))
        for node in graph.nodes:
            made = KEPT[node.op](node, self._view(node.inputs[0])) if node.op in KEPT else None
            if made is not None:
                self._views[node.outputs[0].id] = made[0]

    def generated(self, node: Node) -> int | None:
        """The operand of a product that is a weight which a layer made, if there is one."""
        if node.outputs[0].id in self._logits:
            return None
        names, out = labels(node)
        for slot in (1, 0):
            own = {names[slot][axis] for axis in self.axes(node.inputs[slot])}
            other = names[1 - slot]
            if any(c in other and c not in out for c in own) and any(c not in other and c in out for c in own):
                return slot
        return None

    def axes(self, ref: Reference) -> set[int]:
        """The feature axes of what only one op reads."""
        view = self._view(ref)
        axes = view.axes if view is not None else ()
        return {k for k, parts in enumerate(axes) if parts and not any(isinstance(part, Repeat) for part in parts)}

    def _view(self, ref: Reference) -> Layout | None:
        return self._views.get(ref.id) if isinstance(ref, Value) and self._readers[ref.id] == 1 else None


Kept = list[Layout] | None


def _made(node: Node, x: Layout | None) -> Kept:
    value = node.outputs[0]
    others = tuple((Repeat(n),) if n > 1 else () for n in value.shape[:-1])
    features = of_base(value.id, value.shape).axes[-1:]
    return [Layout(value.id, others + features)] if isinstance(node.inputs[1], ParameterView) else None


def _same(node: Node, x: Layout | None) -> Kept:
    return [x] if x is not None and x.shape == node.outputs[0].shape else None


def _moved(node: Node, x: Layout | None) -> Kept:
    return MOVES[node.op](node, x) if x is not None and 0 not in x.shape else None


KEPT: dict[str, Callable[[Node, Layout | None], Kept]] = {
    "linear": _made, "identity": _same, "dropout": _same, "elementwise": _same,
    "slice": _moved, "permute": _moved, "reshape": _moved,
}  # fmt: skip
"""By op: what the output is, for what the first operand is."""


def by_matrix(node: Node) -> bool:
    """Whether a product of two has no axis that both operands and the output share (heads, samples)."""
    if len(node.inputs) != 2:
        return False
    (left, right), out = labels(node)
    sizes = [dict(zip(text, ref.shape, strict=True)) for text, ref in zip((left, right), node.inputs, strict=True)]  # type: ignore[union-attr]
    return not any(c in out and sizes[0][c] > 1 and sizes[1][c] > 1 for c in set(left) & set(right))


def labels(node: Node) -> tuple[list[str], str]:
    """A product of two operands as the labels of an einsum."""
    if "equation" in node.attrs:
        left, _, out = node.attrs["equation"].replace(" ", "").partition("->")
        return left.split(","), out
    a, b = (len(ref.shape) for ref in node.inputs[:2])  # type: ignore[union-attr]
    batch = max(a - 2, b - 2, 0)
    lead = "".join(chr(ord("a") + k) for k in range(batch))
    left = lead[batch - (a - 2) :] + "xy" if a > 1 else "y"
    right = lead[batch - (b - 2) :] + "yz" if b > 1 else "y"
    return [left, right], lead + ("x" if a > 1 else "") + ("z" if b > 1 else "")
