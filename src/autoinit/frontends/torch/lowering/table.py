"""The table of lowerings, filled by a decorator."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ...base_call import into

if TYPE_CHECKING:
    from ..call import Call

Lowering = Callable[["Call"], None]

TABLE: dict[str, Lowering] = {}


def aten(*names: str) -> Callable[[Lowering], Lowering]:
    """Register a lowering for ATen ops (all overloads; in-place forms included)."""
    return into(TABLE, names)


@cache
def key_of(name: str) -> str:
    """The name of an op in the table: in-place forms are the op that they are a form of."""
    short = name.split(".", 1)[1] if name.startswith("aten.") else name
    if short in TABLE:
        return short
    if short.endswith("_") and not short.endswith("__") and short[:-1] in TABLE:
        return short[:-1]
    return short


def has_lowering(name: str) -> bool:
    return key_of(name) in TABLE


def lower(call: Call) -> bool:
    """Lower a call; False if nothing is known about its op."""
    found = TABLE.get(key_of(call.name))
    if found is None:
        return False
    found(call)
    return True
