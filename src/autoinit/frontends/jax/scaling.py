"""Scaling the parameters of a program while its tape runs: each when its output is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from jax import numpy as jnp
from numpy.typing import NDArray

from ...core.plan.calibration import Goal
from ...core.plan.measured import Key
from ...core.plan.plan import PlanData
from ..base_scaling import ArrayScaler
from .measure import mean_and_variance
from .tape import Atom, Of, Step, Tape


class Scaler(ArrayScaler):
    """Observes a run of the tape (`replay.run`) and changes what it is given."""

    def __init__(
        self, plan: PlanData, tape: Tape, values: dict[str, NDArray[Any]], given: dict[int, Any],
        goals: Mapping[Key, Goal], tolerance: float,
    ) -> None:  # fmt: skip
        """`values`: of all leaves, by name and in order; `given`: what a run begins with, by the identity of atoms."""
        super().__init__(plan, goals, values, tolerance)
        self._given, self._names = given, list(values)
        self._atoms = dict(zip(values, tape.leaves, strict=True))
        self._readers = Counter(id(atom) for step in tape.steps for atom in step.inputs)

    def __call__(self, step: Step, made: list[Any]) -> None:
        goal = self.goals.get((step.module, step.label, step.call, 0)) if step.call else None
        if goal is None:
            return
        factor = self.output_factor(goal, mean_and_variance(made[0])[1], lambda: self._read(step))
        if factor != 1.0:
            made[0] = made[0] * factor

    def _read(self, step: Step) -> list[str] | None:
        """The parameters that an output is made of; None if one of them is not a leaf, or somebody else reads what
        was made of it before it was scaled."""
        if step.whole is not None and step.whole.op != "biased":
            return None
        found = [self._leaf(atom) for atom in step.operands if atom is not None and atom.of is Of.PARAMETERS]
        return None if None in found else [self._names[atom.index] for atom in found if atom is not None]

    def _leaf(self, atom: Atom) -> Atom | None:
        while not atom.is_leaf:
            if atom.step is None or len(atom.step.inputs) != 1 or self._readers[id(atom)] != 1:
                return None
            atom = atom.step.inputs[0]
        return atom

    def is_zero(self, name: str) -> bool:
        return not self.values[name].any()

    def changed(self, name: str) -> None:
        atom = self._atoms[name]
        self._given[id(atom)] = jnp.asarray(self.values[name], atom.dtype)
