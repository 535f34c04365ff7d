"""Names and arguments of ATen ops, looked up once per overload."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten


@cache
def op_name(func: Any) -> str:
    """'aten.add' for aten.add.Tensor; higher-order ops give their own name."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return str(getattr(func, "__name__", func))
    return schema.name.replace("::", ".")


@cache
def _signature(func: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    schema = getattr(func, "_schema", None)
    if schema is None:
        return (), {}
    names = tuple(a.name for a in schema.arguments)
    defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    return names, defaults


def arguments(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """All arguments by name, defaults filled in."""
    names, defaults = _signature(func)
    values = dict(defaults)
    values.update(zip(names, args, strict=False))
    values.update(kwargs)
    return values


@cache
def is_mutable(func: Any) -> bool:
    """Whether the op writes to one of its arguments (and says so)."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return False
    return any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments)


def written_positions(func: Any, originals: list[Any], spec: Any) -> list[int]:
    """Positions (in the flat arguments) of the tensors that an op writes."""
    order = list(range(len(originals)))
    args, kwargs = tree_unflatten(order, spec)
    found: list[int] = []
    for k, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        place = args[k] if k < len(args) else kwargs.get(argument.name)
        for position in tree_flatten(place)[0]:
            if isinstance(position, int) and isinstance(originals[position], torch.Tensor):
                found.append(position)
    return found
