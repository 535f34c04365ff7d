"""Everything that is recorded about one PyTorch model; runs in a worker process."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import nn

from autoinit import Plan
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.frontends.torch.measure import record
from autoinit.measurement import key_of

from .account import Report, Settings, looked_at, planned, recorded, short
from .defaults import inspect_default
from .entry import Entry
from .fidelity import MORE_SEEDS, Array, in_order, judge, normalises

__all__ = ["Settings", "study"]


def study(entry: Entry, settings: Settings, report: Report, verbose: bool = False) -> dict[str, Any]:
    """The record of a model; `report` is given the parts as they become known, in case the rest is never reached."""
    return recorded(entry, settings, lambda result: _study(entry, settings, result, report, verbose))


def _study(entry: Entry, settings: Settings, result: dict[str, Any], report: Report, verbose: bool) -> None:
    report(result)
    model, device = built(entry, settings)
    inputs = entry.inputs_of(model)
    result |= {"parameters": _size(model), "device": device, "inputs": short(inputs), "stage": "plan"}
    report(result)
    plan = planned(model, inputs, result)
    if settings.plan_only or _size(model) >= settings.measure_below:
        return
    result["stage"] = "check"
    report(result)
    result["default"] = inspect_default(model, inputs)
    result["stage"] = "measure"
    report(result)
    seeds = settings.seeds if normalises(plan) else max(settings.seeds, MORE_SEEDS)
    runs = np.stack([measured(plan.apply(model, seed=s), inputs, plan, s) for s in settings.numbers(seeds)])
    looked_at(plan, parameters(model), result)
    result["fidelity"] = judge(plan, runs, listed=verbose)


def parameters(model: nn.Module) -> dict[str, Array]:
    """The values of all parameters, tied ones under each of their names."""
    return {
        name: (p.float() if p.dtype in (torch.bfloat16, torch.float16) else p).detach().numpy()
        for name, p in model.named_parameters(remove_duplicate=False)
    }


def built(entry: Entry, settings: Settings) -> tuple[nn.Module, str]:
    """The model, on the CPU if it is going to be measured, else without weights (where that works)."""
    bare = None
    if settings.plan_only or not entry.small:
        torch.manual_seed(0)
        with suppress(Exception), torch.device("meta"):
            bare = entry.build()
    if bare is not None and (settings.plan_only or _size(bare) >= settings.measure_below):
        return bare, "meta"
    torch.manual_seed(0)
    return entry.build(), "cpu"


def measured(model: nn.Module, inputs: Any, plan: Plan, seed: int) -> Array:
    """(tensors, 2): mean and variance of each with noise of this seed; nan where it was not seen, inf for no number."""
    args, kwargs = call_arguments(inputs)
    wanted = {key_of(row) for row in plan.tensors}
    found = record(model, args, kwargs, training=True, seed=1000 + seed, wanted=wanted).moments
    return in_order(plan, found)


def _size(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())
