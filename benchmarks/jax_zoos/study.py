"""Everything that is recorded about one model of JAX; runs in a worker process."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from autoinit.core.options import read_options
from autoinit.frontends.jax import front
from autoinit.frontends.jax.adapters import adapted
from autoinit.frontends.parameters_given import WithParameters

from ..zoos.account import Report, Settings, looked_at, planned, recorded, short
from ..zoos.entry import Entry
from ..zoos.fidelity import MORE_SEEDS, in_order, judge, normalises


def study(entry: Entry, settings: Settings, report: Report, verbose: bool = False) -> dict[str, Any]:
    """The record of a model; `report` is given the parts as they become known, in case the rest is never reached."""
    return recorded(entry, settings, lambda result: _study(entry, settings, result, report, verbose))


def _study(entry: Entry, settings: Settings, result: dict[str, Any], report: Report, verbose: bool) -> None:
    report(result)
    model = entry.build()
    inputs = entry.inputs_of(model)
    bare = front.bound(model, inputs, values=False)
    size = sum(prod(shape) for shape in front.shapes(bare).values())
    result |= {"parameters": size, "inputs": short(inputs), "stage": "plan"}
    report(result)
    plan = planned(bare, inputs, result)
    if settings.plan_only or size >= settings.measure_below:
        return
    result["stage"] = "measure"
    report(result)
    seeds = settings.seeds if normalises(plan) else max(settings.seeds, MORE_SEEDS)
    options, runs = read_options({}), []
    for seed in settings.numbers(seeds):
        drawn = plan.apply(bare, seed=seed, warn=False)
        filled = WithParameters(model, drawn) if isinstance(bare, WithParameters) else drawn
        runs.append(in_order(plan, front.measure(filled, inputs, options, 1000 + seed)))
    values = {name: held.values() for name, held in adapted(filled).parameters.items()}
    looked_at(plan, {name: np.asarray(v, np.float32) for name, v in values.items() if v is not None}, result)
    result["fidelity"] = judge(plan, np.stack(runs), listed=verbose)
