"""Scaling the weights of a Keras model while its tape runs: each when its output is made.

No variable is written. Inside of the run, variables hold the values that are given here; when a weight's output is
made, both are multiplied by what brings it to its goal, and whatever comes later sees them so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from keras.src import backend
from keras.src.backend.common.stateless_scope import get_stateless_scope
from numpy.typing import NDArray

from ...core.drawing.regions import Region, places_in
from ...core.plan.calibration import Goal, Place
from ...core.plan.measured import Key
from ...core.plan.plan import PlanData
from .measure import mean_and_variance
from .tape import Entry, Tape

BACK = 3
"""A bias is added to a contraction, or to its output in another shape: so many calls make a weight's output."""


class Scaler:
    """Observes a run of the tape."""

    def __init__(
        self, plan: PlanData, tape: Tape, variables: Mapping[str, Any], values: dict[str, NDArray[Any]],
        goals: Mapping[Key, Goal], tolerance: float,
    ) -> None:  # fmt: skip
        self.tolerance = tolerance
        self.plan, self.tape, self.variables, self.values = plan, tape, variables, values
        self.goals = {key: goal for key, goal in goals.items() if all(name in values for name in goal.names)}
        self.factors: dict[Place, float] = {}
        self.variances: dict[str, float] = {}
        """What the outputs came to, by the first parameter that decides them."""
        self.failed: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Another run begins."""
        self.unsettled = False
        self.failed.clear()

    def held(self) -> list[tuple[Any, Any]]:
        """Variables and what they hold in the run."""
        return [(self.variables[name], self._tensor(name)) for name in self.values]

    def _tensor(self, name: str) -> Any:
        return backend.convert_to_tensor(self.values[name], dtype=self.variables[name].dtype)

    def __call__(self, entry: Entry, made: list[Any]) -> None:
        goal = self.goals.get((entry.module, entry.name, entry.occurrence, 0))
        if goal is None:
            return
        variance = mean_and_variance(made[0])[1]
        factor = goal.factor(variance)
        if factor is None:
            self.failed.append(goal.names[0])
            return
        self.variances[goal.names[0]] = variance
        if not goal.met(variance, self.tolerance):
            self.variances[goal.names[0]] = goal.variance
            self.unsettled |= not self._follows(entry, goal)
            made[0] = made[0] * factor ** len(goal.parts)
            for place in goal.parts:
                self.factors[place] = self.factors.get(place, 1.0) * factor
            for place in (*goal.parts, *goal.biases):
                self._scale(place, factor)

    def _follows(self, entry: Entry, goal: Goal) -> bool:
        """Whether the output is one parameter's contraction, and a bias of zeros or one that is scaled as well."""
        read, waiting = set[int](), [entry]
        for _ in range(BACK):
            for tensor in [t for one in waiting for t in one.tensors()]:
                if id(tensor) in self.tape.leaves:
                    read.add(id(self.tape.leaves[id(tensor)]))
            made_by = [self.tape.producers[id(t)][0] for one in waiting for t in one.tensors()
                       if id(t) in self.tape.producers]  # fmt: skip
            waiting = made_by[:1]
        names = [name for name, variable in self.variables.items() if id(variable) in read]
        scaled = {name for name, _ in (*goal.parts, *goal.biases)}
        return len(goal.parts) == 1 and set(goal.names) <= set(names) and all(
            name in scaled or not np.any(self.values[name]) for name in names if name in self.values
        )  # fmt: skip

    def _scale(self, place: Place, factor: float) -> None:
        """Multiply the entries of a part, from now on."""
        name = place[0]
        entry, array = self.plan.parameter(name), self.values[name]
        part = entry.parts[place[1]]
        region = Region.of(entry.shape, part.shape, part.stride, part.offset)
        array[region.holds(places_in(region.whole, [0] * array.ndim, region.whole))] *= factor
        scope = get_stateless_scope()
        assert scope is not None
        scope.add_update((self.variables[name], self._tensor(name)))
