"""What goes into a propagation (the rules to use) and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..backward.passing import Gradients
from ..graph.trunk import Addition
from ..plan.plan import CenterPlan
from ..signal.signal import Signal
from .policy import Decisions


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules to use: `table` maps ops to functions; `project` (if any) is applied to every signal."""

    table: dict[str, Callable[..., Any]]
    project: Callable[[Signal], Signal] | None = None
    adjoints: dict[str, Callable[..., None]] = field(default_factory=dict)
    """How gradients go back through ops (`autoinit.rules.adjoint`)."""


@dataclass(slots=True)
class Outcome:
    """What a pass found."""

    signals: dict[int, Signal]
    decisions: Decisions
    notes: list[tuple[int, str, str]] = field(default_factory=list)
    """(node, kind, message)"""
    weight_nodes: dict[int, float] = field(default_factory=dict)
    """Nodes that contract with a weight, and the second moment they were solved for (nan: not solved)."""
    made_of: dict[int, str] = field(default_factory=dict)
    """The parameter that the weight of a node is made of, where that is one."""
    tied: frozenset[str] = frozenset()
    """Embedding tables whose size a projection decides."""
    centers: list[CenterPlan] = field(default_factory=list)
    """Activations whose mean is taken off."""
    additions: list[Addition] = field(default_factory=list)
    """Along residual trunks."""
    gradients: Gradients | None = None
    """What a backward pass found, if there was one."""
