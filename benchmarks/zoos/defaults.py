"""What `autoinit.check` says about a model as it initializes itself, and whether measuring says the same."""

from __future__ import annotations

from typing import Any

import autoinit
from autoinit.measurement import Measurement, Row
from autoinit.report.data import first_problem, verdict

from .fidelity import NOTHING, digits

AGREES = 2.0


def inspect_default(model: Any, inputs: Any) -> dict[str, Any]:
    """Predicted and measured, at the first bad weight layer and at the outputs."""
    found = autoinit.measure(model, inputs, warn=False)
    rows = {r.predicted.index: r for r in found.rows}
    predicted, measured = _first(found, found.plan), _first(found, found)
    outputs = [rows[k] for k in found.plan.outputs if k in rows]
    layers = found.weight_layers
    return {
        "layers": len(layers),
        "first_bad": _row(predicted, found),
        "first_bad_measured": _row(measured, found),
        "outputs": [_row(r, found) for r in outputs[:5]],
        "output_agrees": all(_agrees(r) for r in outputs) if outputs else None,
        "layer_agrees": _agrees(predicted or measured) if predicted or measured else True,
        "within_2": sum(_agrees(r) for r in layers),
    }


def _first(found: Measurement, judged: Any) -> Row | None:
    problem = first_problem(judged)
    return next((r for r in found.rows if r.predicted is problem), None) if problem is not None else None


def _row(row: Row | None, found: Measurement) -> dict[str, Any] | None:
    if row is None:
        return None
    expected = row.predicted.tensor_variance
    return {
        "module": row.predicted.module or "(model)",
        "op": row.predicted.op.removeprefix("aten."),
        "predicted": digits(expected),
        "measured": digits(row.variance),
        "verdict": verdict(expected, found.plan.variance),
        "measured_verdict": verdict(row.variance, found.plan.variance),
    }


def _agrees(row: Row) -> bool:
    expected = row.predicted.tensor_variance
    if abs(expected) < NOTHING and abs(row.variance) < NOTHING:
        return True
    return 1 / AGREES <= row.ratio <= AGREES
