"""Names and arguments of ATen ops, looked up once per overload."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from .leaves import Form, flat_in


@cache
def op_name(func: Any) -> str:
    """'aten.add' for aten.add.Tensor; higher-order ops give their own name."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return str(getattr(func, "__name__", func))
    return str(schema.name).replace("::", ".")


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


STATISTICS = ("running_mean", "running_var")
"""Arguments that norms write to in training without saying so."""


@cache
def _written_arguments(func: Any) -> tuple[tuple[int, str], ...]:
    """(position, name) of the arguments that an op writes, or may write."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return ()
    return tuple(
        (k, a.name)
        for k, a in enumerate(schema.arguments)
        if (a.alias_info is not None and a.alias_info.is_write)
        or (a.name in STATISTICS and "backward" not in schema.name)
    )


def written_positions(func: Any, originals: list[Any], form: Form) -> list[int]:
    """Positions (in the flat arguments) of the tensors that an op writes."""
    written = _written_arguments(func)
    if not written:
        return []
    args, kwargs = form.holding(range(len(originals)))
    found: list[int] = []
    for k, name in written:
        place = args[k] if k < len(args) else kwargs.get(name)
        for position in flat_in(place):
            if isinstance(position, int) and isinstance(originals[position], torch.Tensor):
                found.append(position)
    return found
