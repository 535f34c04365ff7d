"""What goes into a propagation (the rules to use) and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..graph.trunk import Addition
from ..plan.plan import CenterPlan
from ..signal.signal import Signal
from .growth import Growth, Slope
from .policy import Decisions


@dataclass(slots=True)
class Gradients:
    """What a backward pass found: second moments of gradients, by value and by parameter."""

    tensors: dict[int, float] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    """Of one entry of the parameter's gradient."""
    sizes: dict[str, float] = field(default_factory=dict)
    """Second moments of the parameters themselves."""
    chi: dict[int, float] = field(default_factory=dict)
    """Slopes of the correlation map, by the index of the node of a weight layer."""
    notes: list[tuple[int, str, str]] = field(default_factory=list)
    """(node, kind, message)"""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules to use: `table` maps ops to functions; `project` (if any) is applied to every signal."""

    table: dict[str, Callable[..., Any]]
    project: Callable[[Signal], Signal] | None = None
    gradients: Callable[[Any], Gradients] | None = None
    """The backward pass over a propagation (`autoinit.rules.adjoint`)."""


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
    stable: dict[int, float] = field(default_factory=dict)
    """Targets that were chosen so that deviations do not grow, by call."""
    slopes: list[Slope] = field(default_factory=list)
    """Activations in front of weights."""
    growth: dict[int, Growth] = field(default_factory=dict)
    """By value."""
    gradients: Gradients | None = None
    """What a backward pass found, if there was one."""
