"""What the reports show, as plain data: rows for tables, series for figures, verdicts, the first problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, nan, sqrt

from ..core.plan.gradients import GradientRow, gradients_of
from ..core.plan.measured import MeasurementData, Moments, Result, key_of
from ..core.plan.plan import PlanData, TensorPlan
from ..core.plan.verdicts import Judge, Verdict, is_problem, verdict
from ..names import shown

__all__ = [
    "LayerRow", "MeasuredRow", "Series", "band", "first_problem", "is_problem", "layer_rows", "measured_moments",
    "measured_rows", "plan_of", "predicted_moments", "root", "rows_of", "series", "short_op", "verdict",
    "weight_gradients",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One weight layer of a plan."""

    name: str
    op: str
    shape: tuple[int, ...]
    fan: float | None
    std: float | None
    mean_in: float | None
    variance_in: float | None
    """What x.var() over the whole input measures."""
    mean: float
    variance: float
    """What x.var() over the whole output measures."""
    correlation: float
    """Of two entries that differ along the first axis (two samples of a batch)."""
    verdict: Verdict
    index: int


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One weight layer of a measurement."""

    name: str
    op: str
    shape: tuple[int, ...]
    predicted_mean: float
    mean: float
    predicted_variance: float
    variance: float
    ratio: float
    verdict: Verdict
    index: int


@dataclass(slots=True)
class Series:
    """A signal against depth: one point per tensor, in the order of execution."""

    label: str
    variance: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    """The band in which the variance of one draw is expected."""
    weight: list[bool] = field(default_factory=list)
    measured_variance: list[float] | None = None
    measured_mean: list[float] | None = None
    gradient: list[float] | None = None
    """Root mean square of what comes back, of a plan with gradients; nan where nothing does."""
    ratio: list[float] | None = None
    """|g|/|w| of the weight of each weight layer; nan elsewhere."""
    measured_ratio: list[float] | None = None


def layer_rows(plan: PlanData) -> list[LayerRow]:
    """The weight layers, in the order of execution."""
    judge = Judge(plan)
    return [_layer(row, judge) for row in plan.weight_layers]


def _layer(row: TensorPlan, judge: Judge) -> LayerRow:
    parameter = judge.parameter(row)
    std = parameter.std if parameter is not None and parameter.action in ("set", "shared") else None
    return LayerRow(
        shown(row.module) or "(model)",
        short_op(row.shown or row.op),
        tuple(row.shape),
        row.fan,
        std,
        row.mean_in,
        row.variance_in,
        _number(row.mean),
        _number(row.tensor_variance),
        row.correlation[0] if row.correlation else 0.0,
        judge.predicted(row),
        row.index,
    )


def measured_rows(measurement: MeasurementData) -> list[MeasuredRow]:
    """The weight layers as measured, in the order of execution."""
    judge = Judge(measurement.plan)
    return [
        MeasuredRow(
            shown(r.predicted.module) or "(model)",
            short_op(r.predicted.shown or r.predicted.op),
            tuple(r.predicted.shape),
            _number(r.predicted.mean),
            r.mean,
            _number(r.predicted.tensor_variance),
            r.variance,
            r.ratio,
            judge.measured(r.predicted, r.variance),
            r.predicted.index,
        )
        for r in measurement.weight_layers
    ]


def first_problem(plan: Result) -> TensorPlan | None:
    """The first weight layer whose signal vanishes, explodes or is not a number; None if there is none.

    Of a plan this judges the prediction, of a measurement what was measured.
    """
    bad = next((r.index for r in rows_of(plan) if is_problem(r.verdict)), None)
    return next((t for t in plan_of(plan).tensors if t.index == bad), None)


def rows_of(item: Result) -> Sequence[LayerRow | MeasuredRow]:
    """The weight layers, with their verdicts."""
    return measured_rows(item) if isinstance(item, MeasurementData) else layer_rows(item)


def plan_of(item: Result) -> PlanData:
    """The prediction that a measurement belongs to; a plan is its own."""
    return item.plan if isinstance(item, MeasurementData) else item


def series(item: Result, label: str | None = None, measured: MeasurementData | None = None) -> Series:
    """Predicted variance and mean of every tensor, and what was measured there (nan where nothing was)."""
    plan = plan_of(item)
    if measured is None and isinstance(item, MeasurementData):
        measured = item
    tensors = [t for t in plan.tensors if t.output == 0]
    made = Series(label if label is not None else plan.model)
    for tensor in tensors:
        made.variance.append(_number(tensor.tensor_variance))
        made.mean.append(_number(tensor.mean))
        low, high = band(tensor)
        made.low.append(low)
        made.high.append(high)
        made.weight.append(tensor.weight is not None)
    if measured is not None:
        found = measured_moments(measured)
        made.measured_mean = [found.get(key_of(t), (nan, nan))[0] for t in tensors]
        made.measured_variance = [found.get(key_of(t), (nan, nan))[1] for t in tensors]
    rows = weight_gradients(plan, measured)
    if rows:
        weights = [rows.get(t.weight or "") for t in tensors]
        made.gradient = [root(t.gradient) for t in tensors]
        made.ratio = [nan if row is None else _number(row.ratio) for row in weights]
        if measured is not None and measured.gradient_seconds:
            made.measured_ratio = [nan if row is None else _number(row.measured_ratio) for row in weights]
    return made


def weight_gradients(plan: PlanData, measured: MeasurementData | None = None) -> dict[str, GradientRow]:
    """By parameter, with what was measured; empty for a plan without gradients."""
    rows = gradients_of(plan)
    return {row.parameter: row for row in (rows if measured is None else rows.measured(measured.gradient_seconds))}


def root(second: float | None) -> float:
    """nan where there is no gradient."""
    return nan if second is None or not second >= 0.0 else sqrt(second)


def band(tensor: TensorPlan) -> tuple[float, float]:
    """In which the variance of one draw is expected; nan where the prediction is not finite."""
    known = isfinite(_number(tensor.tensor_variance)) and isfinite(_number(tensor.scatter))
    return tensor.band if known else (nan, nan)


def measured_moments(measurement: MeasurementData) -> Moments:
    """(mean, variance) of every tensor that was measured, by its key."""
    return {key_of(row.predicted): (row.mean, row.variance) for row in measurement.rows}


def predicted_moments(plan: PlanData) -> Moments:
    """(mean, variance) of every tensor that was predicted, by its key."""
    return {key_of(t): (_number(t.mean), _number(t.tensor_variance)) for t in plan.tensors}


def short_op(op: str) -> str:
    """Without the framework's name space."""
    return shown(op.rsplit(".", 1)[-1])


def _number(value: float | None) -> float:
    """A saved plan has None for what was not finite."""
    return nan if value is None else float(value)
