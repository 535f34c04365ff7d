"""What is put into the parameters of a recurrent layer, gate by gate."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from ..graph.graph import Node, ParameterView
from ..graph.roles import GATES
from ..plan.weights import Part


def rows_of(view: ParameterView, start: int, stop: int) -> ParameterView:
    """Rows start:stop of the first axis of a view."""
    shape = (stop - start, *view.shape[1:])
    return ParameterView(view.name, shape, view.stride, view.offset + start * view.stride[0], False)


def recurrent_parts(node: Node) -> Iterator[tuple[int, list[Part], str]]:
    """(slot, parts, reason) for every parameter of a recurrent node, in torch's packed gate order."""
    a = node.attrs
    gates = GATES[a["kind"]]
    per_cell = 2 + (2 if a["has_bias"] else 0) + (1 if a.get("projected") else 0)
    slot = 1 + a["states"]
    for _ in range(a["layers"] * (2 if a["bidirectional"] else 1)):
        w_ih, w_hh = node.inputs[slot], node.inputs[slot + 1]
        hidden = w_ih.shape[0] // gates
        if isinstance(w_ih, ParameterView):
            std = sqrt(2.0 / (w_ih.shape[1] + hidden))
            parts = [Part(rows_of(w_ih, g * hidden, (g + 1) * hidden), std, "uniform") for g in range(gates)]
            yield slot, parts, "recurrent input kernel: Glorot uniform per gate"
        if isinstance(w_hh, ParameterView):
            std = 1.0 / sqrt(max(hidden, w_hh.shape[1]))
            parts = [Part(rows_of(w_hh, g * hidden, (g + 1) * hidden), std, "orthogonal") for g in range(gates)]
            yield slot + 1, parts, "recurrent kernel: orthogonal per gate"
        at = slot + 2
        if a["has_bias"]:
            for k in (0, 1):
                bias = node.inputs[at + k]
                if isinstance(bias, ParameterView):
                    yield (
                        at + k,
                        _gate_biases(bias, hidden, gates, forget=_forget_bias(node) if k == 0 else 0.0),
                        "recurrent bias",
                    )
            at += 2
        if a.get("projected"):
            w_hr = node.inputs[at]
            if isinstance(w_hr, ParameterView):
                std = 1.0 / sqrt(max(w_hr.shape))
                yield at, [Part(w_hr, std, "orthogonal")], "recurrent projection: orthogonal"
        slot += per_cell


def _forget_bias(node: Node) -> float:
    """What the bias of a forget gate starts at; 0 for cells that have none."""
    return float(node.attrs.get("forget_bias", 1.0)) if node.attrs["kind"] == "lstm" else 0.0


def _gate_biases(bias: ParameterView, hidden: int, gates: int, forget: float) -> list[Part]:
    if not forget:
        return [Part(bias, 0.0, "constant")]
    values = [forget if g == 1 else 0.0 for g in range(gates)]
    return [Part(rows_of(bias, g * hidden, (g + 1) * hidden), v, "constant") for g, v in enumerate(values)]
