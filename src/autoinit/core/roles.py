"""Which operand of an op plays which part: weight, bias, gain. One place for all rules and front ends."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod, sqrt

from .graph import Graph, Node, ParameterView, Reference
from .weights import Part

_WEIGHTS = {
    "linear": (1,), "conv": (1,), "bilinear": (2,), "embedding": (0,), "grouped_linear": (1,), "weighted_sum": (1,),
}  # fmt: skip
_BIASES = {"linear": 2, "conv": 2, "bilinear": 3}
_GAINS = {"normalize": (1,), "weight_norm": (1,)}
GAIN = "gain (layer scale, gate, temperature): left as it is"
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def weight_slots(node: Node) -> tuple[int, ...]:
    return _WEIGHTS.get(node.op, ())


def bias_slot(node: Node) -> int | None:
    return _BIASES.get(node.op)


def gain_slots(node: Node) -> tuple[int, ...]:
    """Operands that scale the other one. A matrix times a number, or times a smaller parameter, is no gain."""
    if node.op == "elementwise" and node.attrs.get("fn") == "mul":
        return tuple(slot for slot in (0, 1) if _scales(node.inputs[slot], node.inputs[1 - slot]))
    return _GAINS.get(node.op, ())


def _scales(gain: Reference, other: Reference) -> bool:
    if not isinstance(gain, ParameterView):
        return True
    if other is None:
        return sum(n > 1 for n in gain.shape) <= 1
    return not (isinstance(other, ParameterView) and prod(other.shape) < prod(gain.shape))


def unknown_value(node: Node, slot: int) -> float:
    """What an array without values (meta device) counts as: gains and running variances 1, all else 0."""
    return 1.0 if slot in gain_slots(node) or (node.op == "normalize" and slot == 4) else 0.0


def why_left(node: Node, slot: int) -> str | None:
    """Why a parameter in this place is left as it is by policy; None if its place says nothing."""
    if node.op == "normalize":
        return "norm scale: left as it is" if slot == 1 else "norm shift: left as it is" if slot == 2 else None
    if slot in gain_slots(node):
        return GAIN
    if slot == bias_slot(node):
        return "bias of a weight that stays as it is"
    return None


def weight_rows(node: Node, slot: int) -> tuple[tuple[int, ...], int]:
    """(axes of the weight that run over outputs, groups): the rest is the fan."""
    shape = node.inputs[slot].shape  # type: ignore[union-attr]
    if node.op == "conv":
        return (node.attrs["w_axes"][0],), int(node.attrs.get("groups", 1))
    if node.op == "grouped_linear":
        return (0, 2), shape[0]
    if node.op == "matmul":
        if len(shape) == 1:
            return (), 1
        inner = len(shape) - 2 if slot == 1 else len(shape) - 1
        return tuple(a for a in range(len(shape)) if a != inner), 1
    if node.op in ("einsum", "weighted_sum"):
        left, _, out = node.attrs["equation"].replace(" ", "").partition("->")
        labels = left.split(",")[slot]
        return tuple(a for a, label in enumerate(labels) if label in out), 1
    return (0,), 1


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


def tied_tables(graph: Graph) -> set[str]:
    """Embedding tables that are also an output projection: the projection decides their scale."""
    tables: set[str] = set()
    contracted: set[str] = set()
    for node in graph.nodes:
        for slot in weight_slots(node):
            ref = node.inputs[slot]
            if isinstance(ref, ParameterView):
                (tables if node.op == "embedding" else contracted).add(ref.name)
    return tables & contracted
