"""Which operand of an op plays which part: weight, bias, gain. One place for all rules and front ends."""

from __future__ import annotations

from math import prod

from .graph import Graph, Node, ParameterView, Reference

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
