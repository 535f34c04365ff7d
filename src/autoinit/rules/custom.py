"""A module or function with a rule of the user's own: ``rule(layer, *signals)`` or ``rule(*signals)``."""

from __future__ import annotations

from typing import Any

from ..core.graph.graph import Node
from ..core.signal.signal import Signal
from ..core.solve.trusting import called
from .registry import Context, rule


@rule("custom")
def custom(node: Node, ctx: Context, *signals: Signal) -> Any:
    function, owner = node.attrs["rule"], node.attrs["owner"]
    if not node.attrs.get("users_own"):
        return function(owner, *signals)
    return called(node, function, (owner, *signals), f"rule for {getattr(owner, '__name__', type(owner).__name__)}")
