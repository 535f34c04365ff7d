"""What is put into the parameters of a recurrent layer, gate by gate."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

from ..graph.graph import Node, ParameterView, Reference
from ..graph.roles import GATES
from ..plan.weights import Part


class CellSlots(NamedTuple):
    """Where the parameters of one cell are among the operands of a recurrent node."""

    input: int
    recurrent: int
    biases: tuple[int, ...]
    """Of the input and of the recurrent product; or none."""
    projection: int | None


def cells_of(node: Node) -> Iterator[CellSlots]:
    """By layers, forward then backward, as torch packs them."""
    a = node.attrs
    slot = 1 + int(a.get("states", 0))
    for _ in range(int(a["layers"]) * (2 if a.get("bidirectional") else 1)):
        biases = (slot + 2, slot + 3) if a.get("has_bias", True) else ()
        after = slot + 2 + len(biases)
        yield CellSlots(slot, slot + 1, biases, after if a.get("projected") else None)
        slot = after + bool(a.get("projected"))


def input_std(inputs: int, hidden: int) -> float:
    """Glorot's, for every gate by itself."""
    return sqrt(2.0 / (inputs + hidden))


def forget_bias(node: Node) -> float:
    """What the bias of a forget gate starts at; 0 for cells that have none."""
    return float(node.attrs.get("forget_bias", 1.0)) if node.attrs["kind"] == "lstm" else 0.0


def recurrent_parts(node: Node) -> Iterator[tuple[ParameterView, list[Part], str]]:
    """(parameter, parts, reason) for every parameter of a recurrent node, in torch's packed gate order."""
    gates, forget = GATES[node.attrs["kind"]], forget_bias(node)
    for cell in cells_of(node):
        w_in, w_back = node.inputs[cell.input], node.inputs[cell.recurrent]
        assert w_in is not None and w_back is not None
        hidden = w_in.shape[0] // gates
        glorot, orthonormal = input_std(w_in.shape[1], hidden), 1.0 / sqrt(max(hidden, w_back.shape[1]))
        forgetting = [forget if g == 1 else 0.0 for g in range(gates)] if forget else [0.0]
        scheme: list[tuple[Reference, str, list[float], str]] = [
            (w_in, "uniform", [glorot] * gates, "recurrent input kernel: Glorot uniform per gate"),
            (w_back, "orthogonal", [orthonormal] * gates, "recurrent kernel: orthogonal per gate"),
        ]
        for slot, values in zip(cell.biases, (forgetting, [0.0]), strict=False):
            scheme.append((node.inputs[slot], "constant", values, "recurrent bias"))
        if cell.projection is not None:
            projection = node.inputs[cell.projection]
            scheme.append((projection, "orthogonal", [orthonormal], "recurrent projection: orthogonal"))
        for view, kind, stds, reason in scheme:
            if isinstance(view, ParameterView):
                yield view, [Part(v, std, kind) for v, std in zip(_blocks(view, len(stds)), stds, strict=True)], reason


def _blocks(view: ParameterView, count: int) -> list[ParameterView]:
    """The rows of a view, cut into blocks."""
    shape = (view.shape[0] // count, *view.shape[1:])
    step, whole = shape[0] * view.stride[0], view.whole and count == 1
    return [ParameterView(view.name, shape, view.stride, view.offset + k * step, whole) for k in range(count)]
