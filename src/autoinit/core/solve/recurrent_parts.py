"""What is put into the parameters of a recurrent layer, gate by gate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from math import sqrt
from typing import NamedTuple

from ..graph.graph import Node, ParameterView
from ..graph.roles import GATES
from ..graph.specs import spec_of
from ..plan.weights import Part


def cell_slots(node: Node) -> range:
    """The operands of a recurrent node that are parameters of its cells; of any other node none."""
    return range(1 + int(node.attrs.get("states", 0)), len(node.inputs)) if spec_of(node.op).carries else range(0)


class CellSlots(NamedTuple):
    """Where the parameters of one cell are among the operands of a recurrent node: one slot, or one per gate."""

    input: tuple[int, ...]
    recurrent: tuple[int, ...]
    biases: tuple[tuple[int, ...], ...]
    """Of the input and of the recurrent product; or none."""
    projection: int | None


def cells_of(node: Node) -> Iterator[CellSlots]:
    """By layers, forward then backward, as torch packs them."""
    a = node.attrs
    width = GATES[a["kind"]] if a.get("per_gate") else 1
    waiting = count(1 + int(a.get("states", 0)))

    def slots() -> tuple[int, ...]:
        return tuple(islice(waiting, width))

    for _ in range(int(a["layers"]) * (2 if a.get("bidirectional") else 1)):
        kernels = slots(), slots()
        biases = (slots(), slots()) if a.get("has_bias", True) else ()
        yield CellSlots(*kernels, biases, next(waiting) if a.get("projected") else None)


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
        w_in, w_back = node.inputs[cell.input[0]], node.inputs[cell.recurrent[0]]
        assert w_in is not None and w_back is not None
        hidden = w_in.shape[0] * len(cell.input) // gates
        glorot, orthonormal = input_std(w_in.shape[1], hidden), 1.0 / sqrt(max(hidden, w_back.shape[1]))
        forgetting = [forget if g == 1 else 0.0 for g in range(gates)] if forget else [0.0]
        scheme: list[tuple[tuple[int, ...], str, list[float], str]] = [
            (cell.input, "uniform", [glorot] * gates, "recurrent input kernel: Glorot uniform per gate"),
            (cell.recurrent, "orthogonal", [orthonormal] * gates, "recurrent kernel: orthogonal per gate"),
        ]
        for slots, values in zip(cell.biases, (forgetting, [0.0]), strict=False):
            scheme.append((slots, "constant", values, "recurrent bias"))
        if cell.projection is not None:
            scheme.append(((cell.projection,), "orthogonal", [orthonormal], "recurrent projection: orthogonal"))
        for slots, kind, stds, reason in scheme:
            for k, slot in enumerate(slots):
                view = node.inputs[slot]
                own = stds if len(slots) == 1 else [stds[k % len(stds)]]
                if isinstance(view, ParameterView):
                    blocks = zip(_blocks(view, len(own)), own, strict=True)
                    yield view, [Part(v, std, kind) for v, std in blocks], reason


def _blocks(view: ParameterView, count: int) -> list[ParameterView]:
    """The rows of a view, cut into blocks."""
    shape = (view.shape[0] // count, *view.shape[1:])
    step, whole = shape[0] * view.stride[0], view.whole and count == 1
    return [ParameterView(view.name, shape, view.stride, view.offset + k * step, whole) for k in range(count)]
