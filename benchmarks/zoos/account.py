"""The record of one model, whatever framework it is of: what planning found, and how far the study came."""

from __future__ import annotations

import re
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import autoinit
from autoinit import Plan
from autoinit.errors import AutoInitError
from autoinit.testing.randomness import violations

from . import memory
from .entry import Entry

NAMED = 5
PLANNED = ("planned", "measured")
_OP = re.compile(r"no rule for (.+?)(?: and it cannot be run|: measured on)")
Report = Callable[[dict[str, Any]], None]
Study = Callable[[dict[str, Any]], None]
"""Fills in a record; `record["stage"]` says how far it came."""


@dataclass(frozen=True)
class Settings:
    """What a record depends on; a model is done if there is a record of it with the same settings."""

    seeds: int = 3
    plan_only: bool = False
    measure_below: float = 120e6
    """Models with more parameters are planned without weights, and not measured."""
    first: int = 0
    """The first seed: other draws of the same models show how much is luck."""

    @property
    def key(self) -> str:
        return "plan" if self.plan_only else f"{self.seeds} seeds" + (f" from {self.first}" if self.first else "")

    def numbers(self, count: int) -> range:
        """The seeds of so many draws."""
        return range(self.first, self.first + count)


def recorded(entry: Entry, settings: Settings, study: Study) -> dict[str, Any]:
    """The record that `study` fills in, its outcome, and what went wrong."""
    begin = time.perf_counter()
    result: dict[str, Any] = {"name": entry.name, "family": entry.family, "settings": settings.key, "stage": "build"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study(result)
        result["outcome"] = "measured" if "fidelity" in result else "planned"
    except Exception as error:
        own = isinstance(error, AutoInitError) and error.fix and error.__cause__ is None
        refused = own and result["stage"] == "plan"
        result["outcome"] = "refused" if refused else f"{result['stage']} failed"
        result["error"] = f"{type(error).__name__}: {error}"[:600]
        result["traceback"] = traceback.format_exc(limit=-6)[-1500:]
    result["seconds"] = round(time.perf_counter() - begin, 2)
    return result


def planned(model: Any, inputs: Any, result: dict[str, Any]) -> Plan:
    """The plan; what it took and what it left out go into the record."""
    memory.forget_peak()
    before = memory.resident()
    begin = time.perf_counter()
    plan = autoinit.plan(model, inputs, warn=False)
    seconds = time.perf_counter() - begin
    unreached = plan.unreached()
    result["plan"] = {
        "seconds": round(seconds, 2),
        "MB": round(max(memory.peak() - before, 0.0)),
        "tensors": len(plan.tensors),
        "layers": len(plan.weight_layers),
        "simulated": ops_of(plan, "simulated"),
        "passed": ops_of(plan, "passed"),
        "warnings": [f"{n.place}: {n.message}"[:200] for n in plan.warnings][:NAMED],
        "warned": len(plan.warnings),
        "unreached": unreached[:NAMED],
        "not_reached": len(unreached),
    }
    return plan


def looked_at(plan: Plan, values: Mapping[str, Any], result: dict[str, Any]) -> None:
    """Whether everything that was set is random (`autoinit.testing.violations`), into the record."""
    found = violations(plan, values)
    result["not_random"] = {"count": len(found), "first": [str(v) for v in found[:NAMED]]}


def ops_of(plan: Plan, kind: str) -> dict[str, int]:
    """How often which op was treated so."""
    names = []
    for note in plan.notes:
        if note.kind == kind:
            match = _OP.search(note.message)
            names.append(match.group(1) if match else note.message[:60])
    return dict(Counter(names).most_common())


def short(inputs: Any) -> str:
    return re.sub(r"\s+", " ", str(inputs))[:200]


def is_done(record: dict[str, Any] | None, settings: Settings, retry: bool) -> bool:
    """Is there a record of this model with these settings? With `retry`, one that did not fail?"""
    if record is None or record.get("settings") != settings.key:
        return False
    return not retry or record["outcome"] in PLANNED
