"""Everything that is recorded about one model; runs in a worker process."""

from __future__ import annotations

import re
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

import autoinit
from autoinit.core.plan import Plan
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.frontends.torch.measure import record
from autoinit.measurement import key_of

from . import memory
from .defaults import inspect_default
from .entry import Entry
from .fidelity import Array, judge, normalises

MORE_SEEDS = 10
"""For models without normalisation, which are judged by intervals."""
NAMED = 5
_OP = re.compile(r"no rule for (.+?)(?: and it cannot be run|: measured on)")
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Settings:
    """What a record depends on; a model is done if there is a record of it with the same settings."""

    seeds: int = 3
    plan_only: bool = False
    measure_below: float = 120e6
    """Models with more parameters are planned on the meta device, without weights, and not measured."""

    @property
    def key(self) -> str:
        return "plan" if self.plan_only else f"{self.seeds} seeds"


def study(entry: Entry, settings: Settings, report: Report, verbose: bool = False) -> dict[str, Any]:
    """The record of a model; `report` is given the parts as they become known, in case the rest is never reached."""
    begin = time.perf_counter()
    result: dict[str, Any] = {"name": entry.name, "family": entry.family, "settings": settings.key, "stage": "build"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _study(entry, settings, result, report, verbose)
        result["outcome"] = "measured" if "fidelity" in result else "planned"
    except Exception as error:
        result["outcome"] = f"{result['stage']} failed"
        result["error"] = f"{type(error).__name__}: {error}"[:600]
        result["traceback"] = traceback.format_exc(limit=-6)[-1500:]
    result["seconds"] = round(time.perf_counter() - begin, 2)
    return result


def _study(entry: Entry, settings: Settings, result: dict[str, Any], report: Report, verbose: bool) -> None:
    report(result)
    model, device = built(entry, settings)
    inputs = entry.inputs_of(model)
    result |= {"parameters": _size(model), "device": device, "inputs": _short(inputs), "stage": "plan"}
    report(result)
    plan = _planned(model, inputs, result)
    if settings.plan_only or _size(model) >= settings.measure_below:
        return
    result["stage"] = "check"
    report(result)
    result["default"] = inspect_default(model, inputs)
    result["stage"] = "measure"
    report(result)
    seeds = settings.seeds if normalises(plan) else max(settings.seeds, MORE_SEEDS)
    runs = np.stack([measured(plan.apply(model, seed=s), inputs, plan, s) for s in range(seeds)])
    result["fidelity"] = judge(plan, runs, listed=verbose)


def built(entry: Entry, settings: Settings) -> tuple[nn.Module, str]:
    """The model, on the CPU if it is going to be measured, else without weights (where that works)."""
    torch.manual_seed(0)
    try:
        with torch.device("meta"):
            bare = entry.build()
    except Exception:
        bare = None
    if bare is not None and (settings.plan_only or _size(bare) >= settings.measure_below):
        return bare, "meta"
    torch.manual_seed(0)
    return entry.build(), "cpu"


def _planned(model: nn.Module, inputs: Any, result: dict[str, Any]) -> Plan:
    memory.forget_peak()
    before = memory.resident()
    begin = time.perf_counter()
    plan = autoinit.plan(model, inputs)
    seconds = time.perf_counter() - begin
    unreached = plan.unreached()
    result["plan"] = {
        "seconds": round(seconds, 2),
        "MB": round(max(memory.peak() - before, 0.0)),
        "tensors": len(plan.tensors),
        "layers": len(plan.weight_layers),
        "simulated": _ops(plan, "simulated"),
        "passed": _ops(plan, "passed"),
        "warnings": [f"{n.place}: {n.message}"[:200] for n in plan.warnings][:NAMED],
        "warned": len(plan.warnings),
        "unreached": unreached[:NAMED],
        "not_reached": len(unreached),
    }
    return plan


def measured(model: nn.Module, inputs: Any, plan: Plan, seed: int) -> Array:
    """(tensors, 2): mean and variance of each with noise of this seed; nan where it was not seen, inf for no number."""
    args, kwargs = call_arguments(inputs)
    wanted = {key_of(row) for row in plan.tensors}
    found = record(model, args, kwargs, training=True, seed=1000 + seed, wanted=wanted).moments
    seen = {key: np.nan_to_num(np.array(moments, float), nan=np.inf, neginf=np.inf) for key, moments in found.items()}
    return np.array([seen.get(key_of(row), (np.nan, np.nan)) for row in plan.tensors], float)


def _ops(plan: Plan, kind: str) -> dict[str, int]:
    """How often which op was treated so."""
    names = []
    for note in plan.notes:
        if note.kind == kind:
            match = _OP.search(note.message)
            names.append(match.group(1) if match else note.message[:60])
    return dict(Counter(names).most_common())


def _size(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def _short(inputs: Any) -> str:
    return re.sub(r"\s+", " ", str(inputs))[:200]
