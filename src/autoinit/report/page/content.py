"""What the page shows, as plain data for JSON: one list per property of the tensors, nulls for what is not finite."""

from __future__ import annotations

from typing import Any

from ...core.plan.measured import MeasurementData, Moments, Result, key_of
from ...core.plan.plan import PlanData, ResidualPlan, TensorPlan
from ...errors import PlanError
from ...names import shown
from ..data import (
    band,
    first_problem,
    layer_rows,
    measured_moments,
    plan_of,
    predicted_moments,
    rows_of,
    short_op,
)
from ..layout import times
from ..text import remarks, summary, title
from .backward import finite, gradients


def content(plan: PlanData, default: Result | None, measured: MeasurementData | None) -> dict[str, Any]:
    rows = layer_rows(plan)
    return {
        "model": plan.model,
        "subtitle": title(plan).removeprefix(shown(plan.model)).lstrip(": "),
        "summary": ". ".join([*remarks(plan), summary(plan, rows)]),
        "separator": "/" if plan.framework == "keras" else ".",
        "checked": plan.checked,
        "target": plan.variance,
        "outputs": plan.outputs,
        "tensors": _tensors(plan),
        "measured": None if measured is None else _others(plan, measured, "measured"),
        "default": None if default is None else _others(plan, default, "default"),
        "residual": _trunks(plan, default),
        "gradients": gradients(plan, default, measured),
        "notes": [{"kind": n.kind, "place": n.place, "message": n.message} for n in plan.notes],
        "parameters": [
            {"name": p.name, "shape": times(p.shape), "action": p.action, "reason": p.reason, "std": finite(p.std)}
            for p in plan.parameters
        ],
    }


def _tensors(plan: PlanData) -> dict[str, list[Any]]:
    layers = {row.index: row for row in layer_rows(plan)}
    tensors = plan.tensors
    bands = [band(t) for t in tensors]
    found = [layers.get(t.index) for t in tensors]
    return {
        "module": [t.module for t in tensors],
        "op": [short_op(t.shown or t.op) + (f" → {t.output}" if t.output else "") for t in tensors],
        "call": [t.call for t in tensors],
        "shape": [times(t.shape) for t in tensors],
        "mean": [finite(t.mean) for t in tensors],
        "variance": [finite(t.tensor_variance) for t in tensors],
        "low": [finite(low) for low, _ in bands],
        "high": [finite(high) for _, high in bands],
        "correlation": [finite(t.correlation[0]) if t.correlation else 0 for t in tensors],
        "status": [t.status for t in tensors],
        "weight": [t.weight for t in tensors],
        "target": [finite(t.target) for t in tensors],
        "fan": [finite(t.fan) for t in tensors],
        "std": [None if row is None else finite(row.std) for row in found],
        "mean_in": [finite(t.mean_in) for t in tensors],
        "variance_in": [finite(t.variance_in) for t in tensors],
        "verdict": [None if row is None else row.verdict for row in found],
    }


def _others(plan: PlanData, item: Result, option: str) -> dict[str, Any]:
    """Mean, variance and verdict of another plan or of a measurement, at the tensors of `plan`."""
    moments = measured_moments(item) if isinstance(item, MeasurementData) else predicted_moments(item)
    there = {t.index: t for t in plan_of(item).tensors}
    words = {key_of(there[row.index]): row.verdict for row in rows_of(item)}
    if plan.tensors and not any(key_of(t) in moments for t in plan.tensors):
        raise PlanError("it has no tensor in common with the plan", where=f"to_html: {option}",
                        received=f"{plan_of(item).model}, for a plan of {plan.model}",
                        fix="give a plan or measurement of the same model")  # fmt: skip
    bad = first_problem(item)
    problem = bad and {"name": bad.module, "op": short_op(bad.shown or bad.op), "verdict": words[key_of(bad)]}
    return {
        "real": isinstance(item, MeasurementData),
        "mean": [_moment(moments, t, 0) for t in plan.tensors],
        "variance": [_moment(moments, t, 1) for t in plan.tensors],
        "verdict": [words.get(key_of(t)) for t in plan.tensors],
        "problem": problem,
    }


def _trunks(plan: PlanData, default: Result | None) -> list[dict[str, Any]]:
    """The additions of each residual trunk, with what their branches make of the sum; also in the default."""
    other = None if default is None else plan_of(default)
    shares = {} if other is None else {key_of(other.tensors[one.tensor]): one.share for one in other.residual}
    trunks: dict[int, list[ResidualPlan]] = {}
    for one in plan.residual:
        trunks.setdefault(one.trunk, []).append(one)
    return [
        {
            "n": ones[0].n,
            "skip": ones[0].skip,
            "norm": ones[0].norm,
            "tensors": [one.tensor for one in ones],
            "share": [finite(one.share) for one in ones],
            "default_share": [finite(shares.get(key_of(plan.tensors[one.tensor]))) for one in ones],
        }
        for ones in trunks.values()
    ]


def _moment(moments: Moments, tensor: TensorPlan, which: int) -> float | None:
    found = moments.get(key_of(tensor))
    return None if found is None else finite(found[which])
