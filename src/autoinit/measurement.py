"""Predicted beside measured, for every tensor that both saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .core.plan.plan import Plan, TensorPlan
from .names import shown

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
class Measurement:
    """Rows in the order of execution, and the prediction (a `check` plan) that they belong to."""

    plan: Plan
    rows: list[Row]

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

    def __str__(self) -> str:
        from .report.text import measurement_table

        return measurement_table(self)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from .report.terminal import coloured

        yield coloured(self, options.max_width)

    def _repr_html_(self) -> str:
        from .report.notebook import measurement_html

        return measurement_html(self)

    def show(self) -> None:
        """Print the table; in a terminal with rich installed in colour."""
        from .report.terminal import show

        show(self)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """Draw predicted and measured variance and mean against depth; options as of `autoinit.report.plot`."""
        from .report.plot import plot

        return plot(self, path, **options)

    def to_html(self, path: str | Path | None = None, *, default: Any = None) -> str:
        """The prediction and what was measured, as one interactive page (see `Plan.to_html`)."""
        return self.plan.to_html(path, default=default, measured=self)


def key_of(row: TensorPlan) -> Key:
    return row.module, row.op, row.call, row.output


def compare(plan: Plan, runs: list[Moments]) -> Measurement:
    """Meet predicted rows and measured tensors by (module, op, call, output)."""
    rows = []
    for tensor in plan.tensors:
        found = [run[key_of(tensor)] for run in runs if key_of(tensor) in run]
        if found:
            mean, variance = np.mean(np.array(found, float), axis=0)
            rows.append(Row(tensor, float(mean), float(variance)))
    return Measurement(plan, rows)
