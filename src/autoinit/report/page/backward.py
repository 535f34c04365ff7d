"""What the page shows of gradients: one list per property, an entry for each tensor, nulls where there is none."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ...core.plan.gradients import GradientRow, gradients_of, has_gradients
from ...core.plan.measured import MeasurementData, Result, key_of
from ...core.plan.plan import PlanData
from ..data import plan_of, root, weight_gradients

DIGITS = 6


def gradients(plan: PlanData, default: Result | None, measured: MeasurementData | None) -> dict[str, Any] | None:
    """Of a plan that has them; also in the default, and measured, if those were made with gradients, too."""
    if not has_gradients(plan):
        return None
    rows, other = weight_gradients(plan, measured), None if default is None else plan_of(default)
    bad, found = gradients_of(plan).first_bad, [rows.get(t.weight or "") for t in plan.tensors]
    seen = any(row is not None and row.measured is not None for row in found)
    return {
        "tensor": [finite(root(t.gradient)) for t in plan.tensors],
        **_weights(found),
        "depth": [None if row is None else finite(row.depth) for row in found],
        "chi": [None if row is None else finite(row.chi) for row in found],
        "verdict": [None if row is None else row.verdict for row in found],
        "measured": [None if row is None or row.measured is None else finite(root(row.measured)) for row in found]
        if seen else None,
        "measured_ratio": [None if row is None else finite(row.measured_ratio) for row in found] if seen else None,
        "median": finite(gradients_of(plan).median_ratio),
        "problem": None if bad is None else {"name": bad.parameter, "verdict": bad.verdict, **_numbers(bad)},
        "default": None if other is None or not has_gradients(other) else _there(plan, other),
    }  # fmt: skip


def _weights(rows: list[GradientRow | None]) -> dict[str, list[float | None]]:
    numbers = [None if row is None else _numbers(row) for row in rows]
    return {name: [None if one is None else one[name] for one in numbers] for name in ("weight", "ratio")}


def _numbers(row: GradientRow) -> dict[str, float | None]:
    return {"weight": finite(row.rms), "ratio": finite(row.ratio)}


def _there(plan: PlanData, other: PlanData) -> dict[str, list[float | None]]:
    """Of another plan, at the tensors of this one."""
    tensors, rows = {key_of(t): t for t in other.tensors}, weight_gradients(other)
    same = [tensors.get(key_of(t)) for t in plan.tensors]
    made = {"tensor": [None if t is None else finite(root(t.gradient)) for t in same]}
    return made | _weights([None if t is None else rows.get(t.weight or "") for t in same])


def finite(value: float | None) -> float | None:
    """A number of few digits for JSON; None for what is no finite number."""
    if value is None or not isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")
