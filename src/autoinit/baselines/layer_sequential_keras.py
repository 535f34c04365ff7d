"""LSUV on Keras models: the tape of a trace is run on the batch, and outputs are rescaled as they are made.

Nothing is written while the tape runs; see `frontends.keras.scaling`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import keras
import numpy as np

from ..api import plan as analyse
from ..core.inputs import Input
from ..core.plan.calibration import goals
from ..frontends.custom import CustomRules
from ..frontends.keras.measure import replayed
from ..frontends.keras.scaling import Scaler
from ..frontends.keras.variables import as_array, parameters_of
from ..frontends.keras.walk import walk
from ..plans import Plan
from .schemes import classical, fits, scheme_plan


def scaled(
    model: Any, inputs: Any, *, samples: int | None, pre: str | None, tolerance: float, iterations: int, seed: int,
    target: float, training: bool, plan: Plan | None = None,
) -> tuple[dict[str, float], list[str]]:  # fmt: skip
    """The variances that the outputs of rescaled weights ended with, and the weights that could not be scaled."""
    given = _first(inputs, samples)
    plan = plan or analyse(model, given, variance=target, training=training, keep_zeros=pre is None, warn=False)
    fits(plan, parameters_of(model))
    if pre == "default":
        classical(model, pre, seed)
    elif pre is not None:
        scheme_plan(plan, pre, tables=True).apply(model, seed)
    made = walk(model, given, training, CustomRules())
    variables = parameters_of(model)
    wanted = goals(plan, target)
    names = {name for goal in wanted.values() for name in goal.names if variables[name].trainable}
    values = {name: np.array(as_array(variables[name].value)) for name in names}
    scaler = Scaler(plan, made.tracer.tape, variables, values, wanted, tolerance)

    def run() -> None:
        with _seeded(seed):
            replayed(made, model, seed, scaler, values=scaler.held())

    scaler.settle(run, iterations + 1)
    for name in {name for name, _ in scaler.factors}:
        variables[name].assign(values[name])
    return scaler.variances, scaler.failed


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Dropout on the PyTorch backend draws from PyTorch's own state, which stays as it was."""
    if keras.backend.backend() != "torch":
        yield
        return
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _first(inputs: Any, samples: int | None) -> Any:
    """The first entries of every input."""
    if samples is None or inputs is None:
        return inputs
    if isinstance(inputs, Input):
        return replace(inputs, shape=_shorter(inputs.shape, samples)) if inputs.shape else inputs
    if isinstance(inputs, Mapping):
        return {name: _first(item, samples) for name, item in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        if inputs and all(n is None or isinstance(n, int) for n in inputs):
            return _shorter(inputs, samples)
        return type(inputs)(_first(item, samples) for item in inputs)
    return inputs[:samples] if getattr(inputs, "ndim", len(getattr(inputs, "shape", ()))) else inputs


def _shorter(shape: Any, samples: int) -> tuple[Any, ...]:
    return (samples if shape[0] is None else min(samples, shape[0]), *shape[1:])
