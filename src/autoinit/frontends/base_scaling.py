"""Scaling weights while a model runs, the same way in every framework: each when its output is made.

The output goes on at its new size, so that what comes later is scaled for it: one run is enough, unless an output does
not follow its weight (`unsettled`). Where the factors come from is in `core.plan.calibration`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Container, Mapping
from typing import Any

from numpy.typing import NDArray

from ..core.drawing.regions import Region, places_in
from ..core.plan.calibration import PASSES, Goal, Place
from ..core.plan.measured import Key
from ..core.plan.plan import PlanData


class BaseScaler(ABC):
    """Observes a run; a framework says how parameters and outputs are multiplied."""

    def __init__(
        self, plan: PlanData, goals: Mapping[Key, Goal], written: Container[str], tolerance: float
    ) -> None:
        """`written`: names of the parameters that may be scaled."""
        self.plan, self.tolerance = plan, tolerance
        self.goals = {key: goal for key, goal in goals.items() if all(name in written for name in goal.names)}
        self.factors: dict[Place, float] = {}
        self.variances: dict[str, float] = {}
        """What the outputs came to, by the first parameter that decides them."""
        self.failed: list[str] = []
        self.unsettled = False
        """Whether another run has to look if outputs followed their weights."""

    def settle(self, run: Callable[[], object], passes: int = PASSES) -> None:
        """Run, and again until everything is settled."""
        for _ in range(passes):
            self.unsettled = False
            self.failed.clear()
            run()
            if not self.unsettled:
                return

    def rescale(self, goal: Goal, variance: float) -> float:
        """Multiply what decides an output of this variance; returns by what each part (1: it is left alone)."""
        factor = goal.factor(variance)
        if factor is None:
            self.failed.append(goal.names[0])
            return 1.0
        self.variances[goal.names[0]] = variance
        if goal.met(variance, self.tolerance):
            return 1.0
        for place in goal.parts:
            self.factors[place] = self.factors.get(place, 1.0) * factor
        for place in (*goal.parts, *goal.biases):
            self.scale(place, factor)
        return factor

    @abstractmethod
    def scale(self, place: Place, factor: float) -> None:
        """Multiply the entries of a part, from now on."""

    def region(self, place: Place) -> Region:
        """The entries of a part."""
        entry = self.plan.parameter(place[0])
        part = entry.parts[place[1]]
        return Region.of(entry.shape, part.shape, part.stride, part.offset)


class ArrayScaler(BaseScaler):
    """Scales arrays of NumPy, which stand for the parameters in a run: nothing of the user's is written."""

    def __init__(
        self, plan: PlanData, goals: Mapping[Key, Goal], values: dict[str, NDArray[Any]], tolerance: float
    ) -> None:
        super().__init__(plan, goals, values, tolerance)
        self.values = values

    def output_factor(self, goal: Goal, variance: float, read: Callable[[], Collection[str] | None]) -> float:
        """Scale the weights of an output of this variance; returns what the output is multiplied by.

        `read`: the parameters that it is made of; None if it may not be proportional to its weights.
        """
        factor = self.rescale(goal, variance)
        if factor == 1.0:
            return 1.0
        self.variances[goal.names[0]] = goal.variance
        self.unsettled |= not self._follows(goal, read())
        return float(factor ** len(goal.parts))

    def _follows(self, goal: Goal, read: Collection[str] | None) -> bool:
        """Whether the output is of one weight, and of biases that are zero or scaled as well."""
        if read is None or len(goal.parts) > 1 or not set(goal.names) <= set(read):
            return False
        scaled = {name for name, _ in (*goal.parts, *goal.biases)}
        return all(name in scaled or self.is_zero(name) for name in read)

    def scale(self, place: Place, factor: float) -> None:
        region, array = self.region(place), self.values[place[0]]
        box = region.box()
        if box is not None:
            array[tuple(slice(a, b) for a, b in box)] *= factor
        else:
            array[region.holds(places_in(region.whole, [0] * array.ndim, region.whole))] *= factor
        self.changed(place[0])

    @abstractmethod
    def is_zero(self, name: str) -> bool:
        """Whether a parameter, which may be none that is scaled, holds nothing but zeros."""

    @abstractmethod
    def changed(self, name: str) -> None:
        """The run goes on with the new values of a parameter."""
