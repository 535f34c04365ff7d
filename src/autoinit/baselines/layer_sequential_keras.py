"""LSUV on Keras models: the tape of a trace is run on the batch, and outputs are rescaled as they are made.

Nothing is written while the tape runs. A contraction is linear in its weight, so its output is multiplied by what the
weight will be multiplied by afterwards, and so are the outputs of later calls of the same weight. Biases and weights
that are computed inside the model make this inexact; further passes settle it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import isfinite, prod, sqrt
from typing import Any

import keras

from ..api import plan as analyse
from ..core.inputs import Input
from ..frontends.custom import CustomRules
from ..frontends.keras.measure import mean_and_variance, replayed
from ..frontends.keras.tape import Entry
from ..frontends.keras.variables import as_array, parameters_of
from ..frontends.keras.walk import walk
from ..measurement import Key, key_of
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
    weights = _weights_of(plan)
    variances: dict[str, float] = {}
    failed: list[str] = []
    for _ in range(iterations + 1):
        run = _Pass(weights, target, tolerance)
        with _seeded(seed):
            replayed(made, model, seed, run)
        variances, failed = run.variances, run.failed
        if not run.factors:
            break
        for name, factor in run.factors.items():
            variables[name].assign(as_array(variables[name].value) * factor)
    return variances, failed


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


def _weights_of(plan: Plan) -> dict[Key, list[str]]:
    """The weights to scale, by the tensor whose variance they decide."""
    made_of = defaultdict(list)
    for p in plan.parameters:
        if p.layer is not None and p.action in ("set", "gain"):
            made_of[p.layer].append(p.name)
    rows = [row for row in plan.tensors if row.weight is not None and row.output == 0 and made_of[row.index]]
    return {key_of(row): made_of[row.index] for row in rows}


class _Pass:
    """Looks at every weight layer's output as the tape makes it, and scales it as its weight will be scaled."""

    def __init__(self, weights: dict[Key, list[str]], target: float, tolerance: float) -> None:
        self.weights, self.target, self.tolerance = weights, target, tolerance
        self.factors: dict[str, float] = {}
        self.variances: dict[str, float] = {}
        self.failed: list[str] = []

    def __call__(self, entry: Entry, values: list[Any]) -> None:
        names = self.weights.get((entry.module, entry.name, entry.occurrence, 0))
        if names is None:
            return
        if names[0] not in self.variances and names[0] not in self.failed:
            self._decide(names, mean_and_variance(values[0])[1])
        factor = prod(self.factors.get(name, 1.0) for name in names)
        if factor != 1.0:
            values[0] = values[0] * factor

    def _decide(self, names: list[str], variance: float) -> None:
        if not variance > 0 or not isfinite(variance):
            self.failed.append(names[0])
            return
        self.variances[names[0]] = variance
        if abs(variance / self.target - 1) > self.tolerance:
            factor = sqrt(self.target / variance)
            self.factors.update({name: factor ** (1 / len(names)) for name in names})
