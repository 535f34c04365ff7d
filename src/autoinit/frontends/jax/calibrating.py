"""Calibrating a plan of a model of JAX: its tape runs on noise, with drawn weights in place of the present values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Input
from ...core.options import Options
from ...core.plan.calibration import TOLERANCE, Place, goals
from ...core.plan.plan import PlanData
from ...core.signal.columns import noise_like
from ...core.signal.samples import complex_sample
from ..budget import Budget
from ..collection import no_garbage_collection
from .apply import apply
from .held import Adapted
from .inputs import Given, given_inputs
from .measure import replayed
from .program import Program
from .replay import given_values
from .scaling import Scaler
from .trace import tape_of


def calibration(plan: PlanData, model: Adapted, inputs: Any, seed: int) -> tuple[dict[Place, float], list[str]]:
    """The factors that put the draw of `seed` on target, and the parameters for which there is none."""
    program, inputs = model.program(inputs, plan.training)
    given, structure, leaves = given_inputs(inputs)
    with no_garbage_collection():
        tape = tape_of(program, given, structure, leaves, Budget.start(Options()))
        drawn = _drawn(plan, model, program, seed)
        values = {leaf.name: array for leaf, array in zip(program.leaves, drawn, strict=True)}
        begin = given_values(tape, drawn, _noise(given, seed), jax.random.key(seed))
        scaler = Scaler(plan, tape, values, begin, goals(plan), TOLERANCE)
        scaler.settle(lambda: replayed(program, tape, begin, given, scaler))
    return scaler.factors, scaler.failed


class _Aside(Adapted):
    """The arrays of a model by themselves: what is put there reaches nobody."""

    def __init__(self, model: Adapted) -> None:
        self.name, self.made, self.model = model.name, model.made, model
        self.arrays = [replace(held) for held in model.arrays]

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        return self.model.program(inputs, training)

    def holding(self) -> list[NDArray[Any] | None]:
        return [held.values() for held in self.arrays]


def _drawn(plan: PlanData, model: Adapted, program: Program, seed: int) -> list[NDArray[Any]]:
    """What the leaves of a program hold once the plan is applied, in a precision that can be scaled."""
    applied = apply(plan, _Aside(model), seed)
    arrays = [*applied, *(leaf.values() for leaf in program.leaves[len(applied) :])]
    return [np.array(a, np.float32 if a.dtype.itemsize < 4 and a.dtype.kind not in "biu" else a.dtype) for a in arrays]


def _noise(given: list[Given], seed: int) -> list[Any]:
    """A sample of each input; of a batch of numbers, noise of its moments. Integers and keys stay."""
    rng, other = np.random.default_rng(seed), np.random.default_rng([seed, 1])

    def of(item: Given) -> Any:
        if isinstance(item.item, Input) or not item.is_signal:
            return item.sample(rng)
        if np.iscomplexobj(item.item):
            return complex_sample(item.signal(), other)
        return noise_like(item.signal(), np.asarray(item.item, np.float64), other)

    return [of(item) for item in given]
