"""Predicted beside measured, for every tensor that both saw."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...names import shown
from .plan import PlanData, TensorPlan

Key = tuple[str, str, int, int]
Moments = dict[Key, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Row:
    """One tensor: the prediction, and mean and variance as measured (means over the repeats)."""

    predicted: TensorPlan
    mean: float
    variance: float

    @property
    def ratio(self) -> float:
        """Measured variance over the predicted one."""
        expected = self.predicted.tensor_variance
        return self.variance / expected if expected > 0 else float("nan")


@dataclass(frozen=True, slots=True)
class MeasurementData:
    """Rows in the order of execution, and the prediction (a `check` plan) that they belong to.

    `autoinit.measure` gives this with its tables and figures.
    """

    plan: PlanData
    rows: list[Row]
    gradient_seconds: dict[str, float] = field(default_factory=dict)
    """Measured mean squares of the parameters' gradients, by name, if they were asked for."""

    @property
    def weight_layers(self) -> list[Row]:
        return [r for r in self.rows if r.predicted.weight is not None]

    def within(self, factor: float, target: float | None = None) -> float:
        """Share of weight layers whose measured variance is within `factor` of `target` (or of the prediction)."""
        ratios = [r.variance / (target or max(r.predicted.tensor_variance, 1e-300)) for r in self.weight_layers]
        return float(np.mean([1 / factor <= r <= factor for r in ratios])) if ratios else float("nan")

    def __repr__(self) -> str:
        counts = f"{len(self.rows)} tensors, {len(self.weight_layers)} weight layers"
        return f"<Measurement of {shown(self.plan.model)}: {counts}>"


Result = PlanData | MeasurementData
"""What tables and figures are made of."""


def key_of(row: TensorPlan) -> Key:
    return row.module, row.op, row.call, row.output


def matched_rows(plan: PlanData, runs: list[Moments]) -> list[Row]:
    """Meet predicted rows and measured tensors by (module, op, call, output)."""
    rows = []
    for tensor in plan.tensors:
        found = [run[key_of(tensor)] for run in runs if key_of(tensor) in run]
        if found:
            mean, variance = np.mean(np.array(found, float), axis=0)
            rows.append(Row(tensor, float(mean), float(variance)))
    return rows
