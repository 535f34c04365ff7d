"""Which operand of an op plays which part: weight, bias, gain. One place for all rules and front ends."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from .features import labels
from .graph import Graph, Node, ParameterView, Reference
from .specs import spec_of

GAIN = "gain (layer scale, gate, temperature): left as it is"
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def weight_slots(node: Node) -> tuple[int, ...]:
    return spec_of(node.op).weights


def bias_slot(node: Node) -> int | None:
    return spec_of(node.op).bias


def gain_slots(node: Node) -> tuple[int, ...]:
    """Operands that scale the other one. A matrix times a number, or times a smaller parameter, is no gain."""
    if node.attrs.get("fn") == "mul":
        return tuple(slot for slot in (0, 1) if _scales(node.inputs[slot], node.inputs[1 - slot]))
    return spec_of(node.op).gains


def _scales(gain: Reference, other: Reference) -> bool:
    if not isinstance(gain, ParameterView):
        return True
    if other is None:
        return sum(n > 1 for n in gain.shape) <= 1
    return not (isinstance(other, ParameterView) and prod(other.shape) < prod(gain.shape))


def unknown_value(node: Node, slot: int) -> float:
    """What an array without values (meta device) counts as: gains and running variances 1, all else 0."""
    return 1.0 if slot in gain_slots(node) else spec_of(node.op).operand(slot).unknown


def why_left(node: Node, slot: int) -> str | None:
    """Why a parameter in this place is left as it is by policy; None if its place says nothing."""
    if slot == bias_slot(node):
        return "bias of a weight that stays as it is"
    return spec_of(node.op).operand(slot).left or (GAIN if slot in gain_slots(node) else None)


def weight_rows(node: Node, slot: int) -> tuple[tuple[int, ...], int]:
    """(axes of the weight that run over outputs, groups): the rest is the fan."""
    if spec_of(node.op).labelled:
        names, out = labels(node)
        return tuple(a for a, label in enumerate(names[slot]) if label in out), 1
    if spec_of(node.op).looks_up:  # rows of a table stand alone
        return (), 1
    return _ROWS[node.op](node) if node.op in _ROWS else ((0,), 1)


_ROWS: dict[str, Callable[[Node], tuple[tuple[int, ...], int]]] = {
    "conv": lambda node: ((node.attrs["w_axes"][0],), int(node.attrs.get("groups", 1))),
    "grouped_linear": lambda node: ((0, 2), node.inputs[1].shape[0]),  # type: ignore[union-attr]
}


def feature_axis(node: Node) -> int | None:
    """The axis along which a weight is contracted with x and makes the output; None if it is not one."""
    return _FEATURES[node.op](node) if node.op in _FEATURES else None


_FEATURES: dict[str, Callable[[Node], int]] = {
    "linear": lambda node: len(node.outputs[0].shape) - 1,
    "matmul": lambda node: len(node.outputs[0].shape) - 1,
    "conv": lambda node: int(node.attrs["x_axes"][1]),
}


def reduced_axes(node: Node) -> set[int]:
    """The axes that a reduction runs over."""
    rank = len(node.inputs[0].shape)  # type: ignore[union-attr]
    return {axis % rank for axis in node.attrs["axes"]} or set(range(rank))


def tied_tables(graph: Graph) -> set[str]:
    """Embedding tables that are also an output projection: the projection decides their scale."""
    tables: set[str] = set()
    contracted: set[str] = set()
    for node in graph.nodes:
        for slot in range(len(node.inputs)) if spec_of(node.op).factors else weight_slots(node):
            ref = node.inputs[slot]
            if isinstance(ref, ParameterView):
                (tables if spec_of(node.op).looks_up else contracted).add(ref.name)
    return tables & contracted
