"""Calibrating a plan of a Keras model: its tape runs on noise, with drawn weights in place of the present values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.inputs import Input
from ...core.plan.calibration import TOLERANCE, Place, goals
from ...core.plan.plan import PlanData
from ...core.signal.columns import noise_like
from ..collection import no_garbage_collection
from ..custom import CustomRules
from ..lock import WALKING
from .apply import planned_values
from .centring import prepared
from .measure import replayed
from .scaling import Scaler
from .state import looking
from .variables import parameters_of
from .walk import Walk, walk


def calibration(plan: PlanData, model: Any, inputs: Any, seed: int) -> tuple[dict[Place, float], list[str]]:
    """The factors that put the draw of `seed` on target, and the parameters for which there is none."""
    with WALKING, looking(model) as looks, no_garbage_collection():
        for step in prepared(plan, model):  # looking puts them back
            step.write()
        made = walk(model, inputs, plan.training, CustomRules(), looks=looks)
        _make_noise(made, seed)
        values = planned_values(plan, parameters_of(model), seed)
        scaler = Scaler(plan, made.tracer.tape, parameters_of(model), values, goals(plan), TOLERANCE)
        scaler.settle(lambda: replayed(made, model, seed, scaler, looks, scaler.held()))
    return scaler.factors, scaler.failed


def _make_noise(made: Walk, seed: int) -> None:
    """A batch of numbers becomes a description, so to speak: noise of its moments. Integers stay."""
    rng = np.random.default_rng([seed, 1])
    for leaf in made.leaves:
        if not isinstance(leaf.item, Input) and leaf.is_signal:
            leaf.item = noise_like(leaf.signal(), np.asarray(leaf.item, dtype=np.float64), rng)
