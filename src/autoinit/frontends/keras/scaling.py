"""Scaling the weights of a Keras model while its tape runs: each when its output is made.

No variable is written. Inside of the run, variables hold the values that are given here; when a weight's output is
made, both are multiplied by what brings it to its goal, and whatever comes later sees them so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keras.src import backend
from keras.src.backend.common.stateless_scope import get_stateless_scope
from numpy.typing import NDArray

from ...core.plan.calibration import Goal
from ...core.plan.measured import Key
from ...core.plan.plan import PlanData
from ..base_scaling import ArrayScaler
from .measure import mean_and_variance
from .tape import Entry, Tape
from .variables import values_of

BACK = 3
"""A bias is added to a contraction, or to its output in another shape: so many calls make a weight's output."""


class Scaler(ArrayScaler):
    """Observes a run of the tape."""

    def __init__(
        self, plan: PlanData, tape: Tape, variables: Mapping[str, Any], values: dict[str, NDArray[Any]],
        goals: Mapping[Key, Goal], tolerance: float,
    ) -> None:  # fmt: skip
        super().__init__(plan, goals, values, tolerance)
        self.tape, self.variables = tape, variables

    def held(self) -> list[tuple[Any, Any]]:
        """Variables and what they hold in the run."""
        return [(self.variables[name], self._tensor(name)) for name in self.values]

    def _tensor(self, name: str) -> Any:
        return backend.convert_to_tensor(self.values[name], dtype=self.variables[name].dtype)

    def __call__(self, entry: Entry, made: list[Any]) -> None:
        goal = self.goals.get((entry.module, entry.name, entry.occurrence, 0))
        if goal is None:
            return
        factor = self.output_factor(goal, mean_and_variance(made[0])[1], lambda: self._read(entry))
        if factor != 1.0:
            made[0] = made[0] * factor

    def _read(self, entry: Entry) -> list[str]:
        """The parameters that an output is made of."""
        read, waiting = set[int](), [entry]
        for _ in range(BACK):
            for tensor in [t for one in waiting for t in one.tensors()]:
                if id(tensor) in self.tape.leaves:
                    read.add(id(self.tape.leaves[id(tensor)]))
            made_by = [self.tape.producers[id(t)][0] for one in waiting for t in one.tensors()
                       if id(t) in self.tape.producers]  # fmt: skip
            waiting = made_by[:1]
        return [name for name, variable in self.variables.items() if id(variable) in read]

    def is_zero(self, name: str) -> bool:
        array = self.values.get(name)
        array = values_of(self.variables[name]) if array is None else array
        return array is not None and not array.any()

    def changed(self, name: str) -> None:
        scope = get_stateless_scope()
        assert scope is not None
        scope.add_update((self.variables[name], self._tensor(name)))
