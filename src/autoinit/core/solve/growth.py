"""What deviations of a draw become on their way; `stability` says how it is found."""

from __future__ import annotations

from dataclasses import dataclass

from ..gaussian.expression import Expr
from ..graph.graph import Value
from ..signal.signal import Signal


@dataclass(frozen=True, slots=True)
class Growth:
    """Of the Gaussian that a tensor is a function of: what deviations of earlier layers have become."""

    power: float = 1.0
    depth: float = 0.0
    """Weight layers since the last norm; in a sum, the mean by shares."""
    makers: frozenset[int] = frozenset()
    """The calls whose targets make its size."""


@dataclass(frozen=True, slots=True)
class Slope:
    """An activation in front of a weight."""

    value: Value
    source: Signal
    expr: Expr
    slope: float
    before: Growth

    @property
    def power(self) -> float:
        return self.slope * self.before.power
