"""What linear forms may ask of the recursion that asks for them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..graph.canonical.layout import Layout
from ..graph.graph import Node, Value
from ..signal.signal import Signal


class Asking(Protocol):
    """`joint.Joint`, as its parts see it."""

    def operand(self, node: Node, slot: int) -> Value | None:
        """An operand as a value; None for a number, or nothing."""

    def producer(self, value: int) -> Node | None:
        """The node that made a value."""

    def view(self, value: Value, ndim: int) -> Layout:
        """A value as a view of its base, broadcast to a rank."""

    def signal(self, value: Value | int) -> Signal:
        """The signal of a value."""

    def data(self, node: Node) -> list[tuple[int, Value]]:
        """The operands that are no numbers."""

    def mean(self, node: Node, slot: int) -> float:
        """The mean of an operand."""

    def slope(self, made: Value, x: Value) -> float | None:
        """E[f'] of a pointwise function."""

    def between(self, a: Layout, b: Layout, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """cov of two views."""
