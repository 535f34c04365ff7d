"""Everything that is recorded about one Keras model; runs in a worker process."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from autoinit.frontends.custom import CustomRules
from autoinit.frontends.keras.measure import moments_of
from autoinit.frontends.keras.variables import parameters_of
from autoinit.frontends.keras.walk import walk

from ..zoos.account import Report, Settings, looked_at, planned, recorded, short
from ..zoos.entry import Entry
from ..zoos.fidelity import MORE_SEEDS, in_order, judge, normalises


def study(entry: Entry, settings: Settings, report: Report, verbose: bool = False) -> dict[str, Any]:
    """The record of a model; `report` is given the parts as they become known, in case the rest is never reached."""
    return recorded(entry, settings, lambda result: _study(entry, settings, result, report, verbose))


def _study(entry: Entry, settings: Settings, result: dict[str, Any], report: Report, verbose: bool) -> None:
    report(result)
    model, weightless = built(entry, settings)
    inputs = entry.inputs_of(model)
    result |= {"parameters": model.count_params(), "device": "none" if weightless else "cpu", "inputs": short(inputs)}
    result |= {"backend": keras.backend.backend(), "stage": "plan"}
    report(result)
    plan = planned(model, inputs, result)
    if weightless:
        return
    result["stage"] = "measure"
    report(result)
    made = walk(model, inputs, True, CustomRules())
    seeds = settings.seeds if normalises(plan) else max(settings.seeds, MORE_SEEDS)
    runs = []
    for seed in settings.numbers(seeds):
        plan.apply(model, seed=seed)
        runs.append(in_order(plan, moments_of(made, model, 1000 + seed)))
    values = {name: keras.ops.convert_to_numpy(v) for name, v in parameters_of(model).items()}
    looked_at(plan, values, result)
    result["fidelity"] = judge(plan, np.stack(runs), listed=verbose)


def built(entry: Entry, settings: Settings) -> tuple[Any, bool]:
    """The model, with weights only if it is going to be measured."""
    with keras.StatelessScope(initialize_variables=False):
        bare = entry.build()
    if settings.plan_only or bare.count_params() >= settings.measure_below:
        return bare, True
    keras.backend.clear_session()
    keras.utils.set_random_seed(0)
    return entry.build(), False
