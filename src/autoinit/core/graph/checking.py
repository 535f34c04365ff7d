"""Nodes are checked against the table of ops when a front end makes them. Ops that are not in it may be anything."""

from __future__ import annotations

from ...errors import GraphError
from .graph import Constant, Node, ParameterView, Value
from .specs import SPECS

REFERENCES = (Value, ParameterView, Constant)


def checked(node: Node) -> Node:
    """The node, if its operands and attributes are what its op takes."""
    spec = SPECS.get(node.op)
    if spec is None:
        return node
    inputs, attrs = node.inputs, node.attrs
    if len(inputs) > spec.most:
        raise _error(node, "operands", f"{len(inputs)} operands", spec.signature)
    if not spec.required <= attrs.keys():
        missing = next(name for name in spec.known if name in spec.required and name not in attrs)
        raise _error(node, f"attribute '{missing}'", f"{', '.join(attrs) or 'no attributes'}",
                     f"{missing}: {spec.known[missing].expected}")  # fmt: skip
    for name, value in attrs.items():
        attribute = spec.known.get(name)
        if attribute is None or not attribute.fits(value):
            allowed = f"one of {', '.join(spec.known)}" if spec.known else "no attributes"
            expected = allowed if attribute is None else f"{name}: {attribute.expected}"
            raise _error(node, f"attribute '{name}'", f"{name}={value!r}", expected)
    for slot in spec.needed:
        if slot >= len(inputs) or inputs[slot] is None:
            raise _error(node, f"operand '{spec.operands[slot].name}'", f"{len(inputs)} operands, none in place {slot}",
                         spec.signature)  # fmt: skip
    for slot, ref in enumerate(inputs):
        if ref is not None and not isinstance(ref, REFERENCES):
            raise _error(node, f"operand '{spec.operand(slot).name}'", repr(ref), "a reference of the graph, or None")
    return node


def _error(node: Node, what: str, received: str, expected: str) -> GraphError:
    return GraphError(f"a node of the op '{node.op}' does not fit its description in {what}", where=node.place,
                      received=received, fix=f"expected {expected} (docs/rules)")  # fmt: skip
