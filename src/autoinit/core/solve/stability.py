"""The slope of the variance map, and targets at which the deviations of a draw do not grow with depth.

A layer with an activation f maps the variance q of what comes in to q' = n sigma^2 E[f(sqrt(q) z)^2]. A draw that is
off by a factor e^d before it is off by e^(s d) behind it, with the slope

    s = d log E[f^2] / d log q = E[f^2 (z^2 - 1)] / (2 E[f^2]).

Rectifiers have s = 1 at any variance, tanh less, GELU and SiLU more: L such layers raise a deviation to the power s^L.
What is carried here for every tensor is that power for the deviation, of any layer before, that has grown most. A norm
ends all of them; a sum has the mean of its terms' powers, by their shares of its second moment, which is what keeps
residual trunks tame; a product has their sum.

With `variance="stable"` every layer whose output goes to an activation with s > 1 + 1/L gets the smallest target from 1
on where s <= 1 + 1/L, so that L layers raise a deviation to no more than the power e.
"""

from __future__ import annotations

from math import exp, isfinite, log

from ..gaussian.expression import Expr, X
from ..gaussian.integrals import analyse
from ..graph.feeding import Feeding
from ..graph.graph import Graph, Node, Value
from ..graph.specs import spec_of
from ..graph.trunk import ADDS
from ..graph.walk import Walk
from ..options import LARGEST_VARIANCE
from ..signal.signal import Signal
from .growth import Growth, Slope
from .outcome import Outcome

LARGEST_TARGET = 256.0
STEP = 1.25
"""Between the targets that are tried."""
MANY = 8
"""So many weights in a row, at least, may read one activation, and it is remembered once."""
H = 1e-3
"""Of differences in log t."""


class Deviations(Walk):
    """What becomes of deviations along a graph whose signals are known."""

    def __init__(self, graph: Graph, feeding: Feeding, outcome: Outcome) -> None:
        super().__init__(graph, feeding)
        self.signals, self.solved = outcome.signals, outcome.weight_nodes
        self.at: dict[int, Growth] = {value.id: Growth() for value, _ in graph.inputs}
        self.slopes: list[Slope] = []
        self.functions: set[int] = set()
        """Values that were made of a Gaussian entry by entry. (Pooled ones may be described as functions as well.)"""
        for index, node in enumerate(self.nodes):
            known = [ref for ref in self.data(node) if ref.id in self.at and ref.id in self.signals]
            made = self._made(index, node, known)
            self.at.update((value.id, made) for value in node.outputs)
        self.depth = max((growth.depth for growth in self.at.values()), default=0.0)

    def power(self, value: Value) -> float:
        """That of a tensor itself, behind its activation."""
        return self.at[value.id].power * (_slope(self.signals[value.id]) if value.id in self.functions else 1.0)

    def _made(self, index: int, node: Node, known: list[Value]) -> Growth:
        signal = self.signals.get(node.outputs[0].id)
        if not known or signal is None or self.is_norm(index):
            return Growth(power=0.0 if known else 1.0)
        if index in self.solved:
            self._remember(known[0])
            before = self.at[known[0].id]
            return Growth(max(self.power(known[0]), 1.0), before.depth + 1.0, frozenset({index}))
        if self.is_weight(index):  # recurrent layers, whose states have bounds
            return Growth()
        of = next((v for v in known if self.signals[v.id].source is signal.source), None)
        if signal.expr is not X and of is not None and (self.signals[of.id].expr is X or of.id in self.functions):
            self.functions.update(value.id for value in node.outputs)
            return self.at[of.id]
        if node.attrs.get("fn") in ADDS and len(known) > 1:
            return self._sum(known)
        if spec_of(node.op).pairs:
            known = [known[2] if len(known) > 2 else known[-1]]
        powers = [self.power(v) for v in known]
        power = sum(powers) if node.attrs.get("fn") == "mul" else max(powers)
        return Growth(power, max(self.at[v.id].depth for v in known), self._makers(known))

    def _sum(self, known: list[Value]) -> Growth:
        seconds = [max(self.signals[v.id].second, 0.0) for v in known]
        total = sum(seconds) or 1.0
        power = sum(self.power(v) * second / total for v, second in zip(known, seconds, strict=True))
        depth = sum(self.at[v.id].depth * second / total for v, second in zip(known, seconds, strict=True))
        return Growth(power, depth, self._makers(known))

    def _makers(self, known: list[Value]) -> frozenset[int]:
        return frozenset().union(*(self.at[v.id].makers for v in known))

    def _remember(self, value: Value) -> None:
        signal = self.signals[value.id]
        known = any(one.value.id == value.id for one in self.slopes[-MANY:])
        if value.id in self.functions and signal.expr.line is None and not known:
            self.slopes.append(Slope(value, signal.source, signal.expr, _slope(signal), self.at[value.id]))


def _slope(signal: Signal) -> float:
    if signal.expr is X:
        return 1.0
    mean, variance = signal.source.mean, max(signal.source.variance, 0.0)
    if not (abs(mean) <= LARGEST_VARIANCE and 0.0 < variance <= LARGEST_VARIANCE):
        return 1.0
    return slope(signal.expr, mean, variance)


def slope(f: Expr, mean: float, variance: float) -> float:
    """d log E[f(sqrt(t) x)^2] / d log t at t = 1: what comes in keeps its form. Without a mean, the slope in Var."""
    if abs(mean) < 1e-9 * variance**0.5:
        found = float(analyse(f, mean, variance).slope)
    else:
        up, down = (analyse(f, mean * exp(h / 2), variance * exp(h)).second for h in (H, -H))
        found = log(up / down) / (2 * H) if up > 0.0 and down > 0.0 else 1.0
    return found if isfinite(found) else 1.0


def stable_targets(found: Deviations, as_it_is: bool = False) -> dict[int, float]:
    """Weight layers by their calls, and the targets that keep deviations from growing, but those that may be 1.

    The signals are those at targets of 1, or those of a network as it is: at their own second moments.
    """
    most = 1.0 + 1.0 / max(found.depth, 1.0)
    made: dict[int, float] = {}
    for one in found.slopes:
        unit = max(one.source.second, 1e-12) if as_it_is else 1.0
        target = _smallest(one, most, unit) if _slope_at(one, 1.0 / unit) > most else None
        for maker in one.before.makers if target is not None else ():
            made[maker] = max(target or 1.0, made.get(maker, 1.0))
    return made


def _smallest(one: Slope, most: float, unit: float) -> float | None:
    """The smallest target from 1 on with a slope that is small enough; None if there is none within reach."""
    high = 1.0
    while _slope_at(one, high / unit) > most:
        high *= STEP
        if high > LARGEST_TARGET:
            return None
    low = high / STEP
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if _slope_at(one, middle / unit) <= most else (middle, high)
    return high


def _slope_at(one: Slope, factor: float) -> float:
    """Where all that makes the source has so many times its second moment."""
    return slope(one.expr, one.source.mean * factor**0.5, one.source.variance * factor)
