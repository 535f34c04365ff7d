"""Graphs as nested dictionaries, {"operator": "max", "operands": [...], "parameter": "alpha"}; x has no operands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .graph import LIMIT, FunctionError, Node


def write(node: Node) -> dict[str, Any]:
    record: dict[str, Any] = {"operator": node.operator}
    if node.operands:
        record["operands"] = [write(operand) for operand in node.operands]
    if node.parameter is not None:
        record["parameter"] = node.parameter
    return record


def read(record: Any, where: str = "function", depth: int = 0) -> Node:
    """The graph of a record; errors name the place inside it."""
    if not isinstance(record, Mapping):
        raise FunctionError("a node is a dictionary", where=where, received=repr(record),
                            fix='{"operator": "tanh", "operands": [{"operator": "x"}]}')  # fmt: skip
    unknown = sorted(map(str, set(record) - {"operator", "operands", "parameter"}))
    operands = record.get("operands", ())
    if unknown or not isinstance(record.get("operator"), str) or not isinstance(operands, (list, tuple)):
        raise FunctionError("a node has an operator, a list of operands and perhaps a parameter", where=where,
                            received=repr(dict(record))[:200], fix="use what Function.to_dict gives")  # fmt: skip
    if depth > LIMIT:
        raise FunctionError(f"a function has at most {LIMIT} operators", where=where, fix="remove some")
    children = tuple(read(o, f"{where}.operands[{k}]", depth + 1) for k, o in enumerate(operands))
    try:
        return Node(record["operator"], children, record.get("parameter"))
    except FunctionError as error:
        raise FunctionError(error.why, where=where, received=error.received, fix=error.fix) from None
