"""Lowerings by the name of the primitive, or of what several steps amount to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...base_call import into

if TYPE_CHECKING:
    from ..call import Call

Lowering = Callable[["Call"], None]
LOWERINGS: dict[str, Lowering] = {}
WHOLES: dict[str, Lowering] = {}


def lax(*names: str) -> Callable[[Lowering], Lowering]:
    """The lowering of primitives (`jax.lax`) with these names."""
    return into(LOWERINGS, names)


def whole(*names: str) -> Callable[[Lowering], Lowering]:
    """The lowering of what `structure` finds."""
    return into(WHOLES, names)
