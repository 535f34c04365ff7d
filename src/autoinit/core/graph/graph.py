"""The neutral graph that every front end emits and every rule reads.

A `Node` is one *call* of one operation, not a layer: a layer called twice is two nodes that share a parameter.
Inputs of a node are references: `Value` (the output of an earlier node or a model input), `ParameterView` (a
parameter, or a strided view of one), `Constant` (an array that the model holds or makes), or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor that flows through the graph."""

    id: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class ParameterView:
    """Part of a parameter, as ``as_strided(parameter, shape, stride, offset)`` would cut it out."""

    name: str
    shape: Shape
    stride: Shape
    offset: int
    whole: bool


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """An array with known values (a mask, a buffer, a positional table). `array()` is None if they are unknown."""

    shape: Shape
    array: Callable[[], NDArray[Any] | None]


Reference = Value | ParameterView | Constant | None


@dataclass(slots=True)
class Node:
    """One call. `op` is a word of the neutral vocabulary (see `autoinit.core.graph.specs`)."""

    op: str
    inputs: tuple[Reference, ...]
    outputs: tuple[Value, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    module: str = ""
    label: str = ""
    call: int = 0
    first: int = 0
    """Which output of the framework's own call the first one is (a call may take several nodes)."""
    run: Callable[..., list[NDArray[Any]] | None] | None = None
    """Runs the real op on arrays, for simulation; None if that is impossible."""

    @property
    def place(self) -> str:
        """Where in the user's model, for tables and messages."""
        return f"{self.module or '(root)'}: {self.label or self.op}"


@dataclass(slots=True)
class Parameter:
    """What the core needs to know of a parameter; the front end fills it in."""

    name: str
    shape: Shape
    dtype: str
    trainable: bool
    read: Callable[[ParameterView | None], NDArray[np.float64] | None]
    """The current values of a view (None: all of it) as float64; None if there are none (meta device)."""
    aliases: tuple[str, ...] = ()
    is_zero: Callable[[], bool] = lambda: False


@dataclass(slots=True, eq=False)
class Site:
    """One call of an activation that can be centred, and the node that takes a number off its output."""

    name: str
    """Where the activation is in the user's model."""
    function: str
    node: Node
    """The subtraction that follows the function: elementwise ``sub`` with one operand and one number."""
    inner: list[Node]
    """The nodes of the function itself."""
    tell: Callable[[float], None]
    """Tells the front end the number, for the samples that it computes."""
    present: float | None = None
    """The number that the model takes off now, if its activation is centred already."""


class Ancestry(Protocol):
    """How values come about, for `sampling_fallback`: real ops between the outputs of weight layers and a value."""

    def starts(self, value: Value) -> bool:
        """Whether the value is a model input, comes straight from weights or chance, or cannot be traced back."""

    def related(self, one: Value, other: Value) -> bool:
        """Whether two values have a start in common, as far as that is known."""

    def size(self, value: Value, known: dict[Any, Any]) -> float:
        """How many entries there are to work out, without those that are `known` already; infinite if too many."""

    def evaluate(
        self, value: Value, draw: Callable[..., NDArray[Any] | None], known: dict[Any, Any]
    ) -> NDArray[Any] | None:
        """The value for the drawn starts, draw(value, is it complex?); None if an op fails. `known` keeps what was
        worked out."""


@dataclass(slots=True)
class Graph:
    """Nodes in the order of execution, the model's inputs, outputs and parameters."""

    nodes: list[Node] = field(default_factory=list)
    inputs: list[tuple[Value, Any]] = field(default_factory=list)
    """Model inputs with their description (an `autoinit.Input`)."""
    outputs: list[Value] = field(default_factory=list)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    other_names: list[str] = field(default_factory=list)
    """Names, besides those of parameters, that options may mean: of buffers that have no memory yet."""
    notes: list[str] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    """Activations that are to be centred, in the order of their calls."""
    ancestry: Ancestry | None = None
