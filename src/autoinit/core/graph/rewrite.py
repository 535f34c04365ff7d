"""Contractions that are written as something else, made plain: the graph is changed in place, once.

* ``(x * w).sum(axes)`` with a parameter w that has one of these axes is a contraction with the weight w.
* An einsum of data with several parameters is a chain of contractions, each with a weight of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod

import numpy as np

from .canonical.form import canonical
from .canonical.layout import Layout
from .features import labels
from .feeding import Feeding, Made
from .graph import Graph, Node, ParameterView, Reference, Shape, Value
from .roles import reduced_axes
from .specs import spec_of

LETTERS = "abcdefghijklmnopqrstuvwxyz"
PLAIN_FUNCTIONS = {"mul", "div", "add", "sub", "neg", "sign", "round", "clamp", "where"}
"""What leaves a weight a weight; a softmax or sigmoid of a parameter is a gate or a mixture."""


def rewritten(graph: Graph) -> tuple[Feeding, dict[int, Layout]]:
    """Change the graph; what flows into its weights afterwards, and which values are views."""
    sums, long = any(map(_is_sum, graph.nodes)), any(map(_is_long, graph.nodes))
    feeding = Feeding(graph)
    layouts, changed = canonical(graph, feeding)
    if changed:
        feeding = Feeding(graph)
    before = list(graph.nodes)
    if long:
        _split_products(graph, feeding)
    if sums:
        _weighted_sums(graph, feeding)
    same = len(before) == len(graph.nodes) and all(a is b for a, b in zip(before, graph.nodes, strict=True))
    return feeding if same else Feeding(graph), layouts


# --- (x * w).sum(axes) ------------------------------------------------------------------------------------------------


def _is_sum(node: Node) -> bool:
    return spec_of(node.op).reduces and node.attrs["kind"] in ("sum", "mean")


def _weighted_sums(graph: Graph, feeding: Feeding) -> None:
    readers = Counter(ref.id for node in graph.nodes for ref in node.inputs if isinstance(ref, Value))
    readers.update(value.id for value in graph.outputs if isinstance(value, Value))
    producer = {value.id: node for node in graph.nodes for value in node.outputs}
    gone: set[int] = set()
    for k, node in enumerate(graph.nodes):
        if not _is_sum(node) or not isinstance(node.inputs[0], Value):
            continue
        product = producer.get(node.inputs[0].id)
        if product is None or readers[node.inputs[0].id] != 1:
            continue
        made = _as_contraction(graph, feeding, producer, product, node)
        if made is not None:
            graph.nodes[k] = made
            gone.add(id(product))
    if gone:
        graph.nodes[:] = [node for node in graph.nodes if id(node) not in gone]


def _as_contraction(
    graph: Graph, feeding: Feeding, producer: dict[int, Node], product: Node, total: Node
) -> Node | None:
    if product.attrs.get("fn") != "mul" or len(product.inputs) != 2:
        return None
    shape = product.outputs[0].shape
    axes = reduced_axes(total)
    if len(shape) > len(LETTERS):
        return None
    for slot in (0, 1):
        w, x = product.inputs[slot], product.inputs[1 - slot]
        if w is None or not isinstance(x, Value) or feeding.kind(x) is Made.PARAMETERS or not _is_weight(w, producer):
            continue
        names = LETTERS[: len(shape)]
        labels = [names[len(shape) - len(ref.shape) :] for ref in (x, w)]
        wide = [_wide(text, ref.shape) for text, ref in zip(labels, (x, w), strict=True)]
        contracted = {names[a] for a in axes}
        if not wide[0] & wide[1] & contracted:
            return None  # what the sum runs over is not weighed: a gain
        if not (wide[1] - wide[0]) and _is_level(graph, w):
            return None  # ones that every entry is multiplied with, and no new feature: a gain that sums follow
        kept = "".join(c for c in names if c not in contracted)
        factor = 1.0 / prod(shape[a] for a in axes) if total.attrs["kind"] == "mean" else 1.0
        equation = f"{labels[0]},{labels[1]}->{kept}"
        return replace(total, op="weighted_sum", inputs=(x, w), attrs={"equation": equation, "factor": factor})
    return None


def _wide(labels: str, shape: Shape) -> set[str]:
    return {c for c, n in zip(labels, shape, strict=True) if n > 1}


def _is_weight(ref: Reference, producer: dict[int, Node]) -> bool:
    """A parameter, or one that was masked, quantised or moved."""
    waiting, found = [ref], False
    for _ in range(64):
        if not waiting:
            return found
        one = waiting.pop()
        if isinstance(one, ParameterView):
            found = True
        elif isinstance(one, Value):
            node = producer.get(one.id)
            if node is None or not (_keeps_entries(node.op) or node.attrs.get("fn") in PLAIN_FUNCTIONS):
                return False
            waiting.extend(node.inputs)
    return False


def _keeps_entries(op: str) -> bool:
    spec = spec_of(op)
    return spec.moves or spec.joins or spec.masks


def _is_level(graph: Graph, ref: Reference) -> bool:
    """A parameter whose values are all the same, and not zero."""
    if not isinstance(ref, ParameterView):
        return False
    values = graph.parameters[ref.name].read(ref)
    return values is not None and values.size > 0 and float(np.ptp(values)) == 0.0 and values.flat[0] != 0.0


# --- einsum of data and several parameters ----------------------------------------------------------------------------


def _is_long(node: Node) -> bool:
    return spec_of(node.op).factors and len(node.inputs) > 2


def _split_products(graph: Graph, feeding: Feeding) -> None:
    fresh = max((value.id for node in graph.nodes for value in node.outputs), default=0)
    fresh = max([fresh, *(value.id for value, _ in graph.inputs), 0])
    nodes: list[Node] = []
    for node in graph.nodes:
        steps = _steps(node, feeding, fresh) if _is_long(node) else [node]
        fresh += len(steps) - 1
        nodes.extend(steps)
    graph.nodes[:] = nodes


def _steps(node: Node, feeding: Feeding, fresh: int) -> list[Node]:
    """The data first, then one parameter after the other."""
    kinds = [feeding.kind(ref) for ref in node.inputs]
    own = [k for k, kind in enumerate(kinds) if kind is Made.PARAMETERS]
    data = [k for k, kind in enumerate(kinds) if kind in (Made.DATA, Made.BOTH)]
    if not own or not data:
        return [node]
    rest = [k for k in range(len(kinds)) if k not in own and k not in data]
    texts, out = labels(node)
    order = data + rest + own
    sizes: dict[str, int] = {}
    for text, ref in zip(texts, node.inputs, strict=True):
        for c, n in zip(text, ref.shape, strict=True):  # type: ignore[union-attr]
            sizes[c] = max(n, sizes.get(c, 1))
    current, left, steps = node.inputs[order[0]], texts[order[0]], []
    for position, k in enumerate(order[1:], start=1):
        last = position == len(order) - 1
        wanted = set("".join(texts[j] for j in order[position + 1 :])) | set(out)
        kept = out if last else "".join(dict.fromkeys(c for c in left + texts[k] if c in wanted))
        value = node.outputs[0] if last else Value(fresh + position, tuple(sizes[c] for c in kept))
        attrs = {"equation": f"{left},{texts[k]}->{kept}"}
        steps.append(replace(node, inputs=(current, node.inputs[k]), outputs=(value,), attrs=attrs,
                             call=node.call if last else 0))  # fmt: skip
        current, left = value, kept
    return steps
