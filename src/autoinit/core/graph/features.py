"""Which axes of a tensor are features that one layer made: how a generated weight is told from tokens and heads.

A hypernetwork's last layer makes out * in features, which are then split into two axes: a product that contracts one of
them and keeps the other one as its output uses the tensor as a weight. In attention the axis that a product keeps is
one of tokens, and heads are shared by both operands. As the two can look alike (queries by heads against embeddings of
pairs), what other ops read too, and what a softmax follows, is no weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .graph import Graph, Node, ParameterView, Reference, Shape, Value
from .specs import spec_of

Axes = frozenset[int]


class Features:
    """For every value the axes that are features of the last layer (through views only)."""

    def __init__(self, graph: Graph) -> None:
        self._axes: dict[int, Axes] = {}
        self._readers = Counter(ref.id for node in graph.nodes for ref in node.inputs if isinstance(ref, Value))
        self._logits: set[int] = set()
        for node in reversed(graph.nodes):
            spec = spec_of(node.op)
            passed_on = spec.moves or spec.pointwise or spec.masks
            if spec.shares or (passed_on and any(value.id in self._logits for value in node.outputs)):
                self._logits.update(ref.id for ref in node.inputs if isinstance(ref, Value))
        for node in graph.nodes:
            axes = self._of(node)
            if axes:
                self._axes[node.outputs[0].id] = axes

    def generated(self, node: Node) -> int | None:
        """The operand of a product that is a weight which a layer made, if there is one."""
        if node.outputs[0].id in self._logits:
            return None
        names, out = labels(node)
        for slot in (1, 0):
            ref = node.inputs[slot]
            made = self._made(ref)
            own = {names[slot][axis] for axis in made}
            other = names[1 - slot]
            if any(c in other and c not in out for c in own) and any(c not in other and c in out for c in own):
                return slot
        return None

    def _made(self, ref: Reference) -> Axes:
        """The feature axes of what only one op reads."""
        if not isinstance(ref, Value) or self._readers[ref.id] != 1:
            return frozenset()
        return self._axes.get(ref.id, frozenset())

    def _of(self, node: Node) -> Axes:
        if node.op not in KEPT:
            return frozenset()
        first = node.inputs[0]
        return KEPT[node.op](node, first.shape if first is not None else (), self._made(first))


def _linear(node: Node, shape: Shape, axes: Axes) -> Axes:
    return frozenset((len(node.outputs[0].shape) - 1,) if isinstance(node.inputs[1], ParameterView) else ())


def _same(node: Node, shape: Shape, axes: Axes) -> Axes:
    return axes


KEPT: dict[str, Callable[[Node, Shape, Axes], Axes]] = {
    "linear": _linear, "identity": _same, "slice": _same, "dropout": _same,
    "elementwise": lambda node, shape, axes: axes if node.outputs[0].shape == shape else frozenset(),
    "permute": lambda node, shape, axes: frozenset(k for k, a in enumerate(node.attrs["perm"]) if a in axes),
    "reshape": lambda node, shape, axes: split_axes(shape, node.outputs[0].shape, axes) if axes else axes,
}  # fmt: skip
"""By op: the feature axes of the output, for the shape of the first operand and its feature axes."""


def split_axes(old: Shape, new: Shape, axes: Axes) -> Axes:
    """Where axes are after a reshape: blocks of axes with equal sizes correspond; a mixed block is no feature axis."""
    found: set[int] = set()
    i = j = 0
    while i < len(old) and j < len(new):
        start_i, start_j, a, b = i, j, old[i], new[j]
        while a != b and ((a < b and i + 1 < len(old)) or (a > b and j + 1 < len(new))):
            if a < b:
                i += 1
                a *= old[i]
            else:
                j += 1
                b *= new[j]
        i, j = i + 1, j + 1
        if all(k in axes for k in range(start_i, i) if old[k] > 1) and any(k in axes for k in range(start_i, i)):
            found.update(k for k in range(start_j, j) if new[k] > 1)
    return frozenset(found)


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
