"""A plan as plain data and back: the format of plan files, and which older ones are still read."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

from ...errors import AutoInitWarning, PlanError
from .check import PlanCheck
from .file import MEND, PlanReader, shown
from .plan import Note, PlanData, SomePlan

FORMAT = 2
OLDER = {1: "written by an older version, whose seeds gave other weights (of the same standard deviations)"}
"""Formats that are still read, and what to know of them."""


def plan_to_dict(plan: PlanData) -> dict[str, Any]:
    return {"autoinit_plan": FORMAT, **_clean(asdict(plan))}


def plan_from_dict(kind: type[SomePlan], data: Any, where: str) -> SomePlan:
    """A plan of that class. Anything that is not what `plan_to_dict` gives is a `PlanError` with its place."""
    if not isinstance(data, dict) or "autoinit_plan" not in data:
        raise PlanError("this is no plan: there is no field autoinit_plan", where=where,
                        received=type(data).__name__, fix=MEND)  # fmt: skip
    number = data["autoinit_plan"]
    if type(number) is not int or (number != FORMAT and number not in OLDER):
        newer = type(number) is int and number > FORMAT
        raise PlanError("a newer version wrote this plan" if newer else "not a plan of this format",
                        where=f"{where}: autoinit_plan", received=shown(number),
                        fix="update autoinit" if newer else MEND)  # fmt: skip
    plan: SomePlan = PlanReader(where).read(kind, {k: v for k, v in data.items() if k != "autoinit_plan"})
    PlanCheck(plan, where).all()
    if number in OLDER:
        plan.notes.append(Note("warning", "seed", OLDER[number]))
        warnings.warn(f"{where}: {OLDER[number]}", AutoInitWarning, stacklevel=3)
    return plan


def _clean(value: Any) -> Any:
    """JSON has no inf and nan: they become None."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value]
    return value
