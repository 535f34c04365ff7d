"""The table of lowerings, filled by a decorator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..call import Call

Lowering = Callable[["Call"], None]

TABLE: dict[str, Lowering] = {}


def aten(*names: str) -> Callable[[Lowering], Lowering]:
    """Register a lowering for ATen ops (all overloads; in-place forms included)."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            assert name not in TABLE, name
            TABLE[name] = function
        return function

    return register


@cache
def _key(name: str) -> str:
    short = name.split(".", 1)[1] if name.startswith("aten.") else name
    if short in TABLE:
        return short
    if short.endswith("_") and not short.endswith("__") and short[:-1] in TABLE:
        return short[:-1]
    return short


def has_lowering(name: str) -> bool:
    return _key(name) in TABLE


def lower(call: Call) -> bool:
    """Lower a call; False if nothing is known about its op."""
    found = TABLE.get(_key(call.name))
    if found is None:
        return False
    found(call)
    return True


def axis_of(dim: int, ndim: int) -> int:
    """A non-negative axis."""
    return dim % ndim if ndim else 0


def axes_of(dims: object, ndim: int) -> tuple[int, ...]:
    """Non-negative axes; None or empty means all."""
    if dims is None or dims == []:
        return tuple(range(ndim))
    if isinstance(dims, int):
        return (axis_of(dims, ndim),)
    return tuple(axis_of(d, ndim) for d in dims)  # type: ignore[attr-defined]


def per_axis(value: object, n: int) -> tuple[int, ...]:
    """An int or a short list, stretched to n entries."""
    items = [value] if isinstance(value, int) else list(value)  # type: ignore[call-overload]
    return tuple(items * n) if len(items) == 1 else tuple(items)
