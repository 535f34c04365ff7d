"""What the reports show, as plain data: rows for tables, series for figures, verdicts, the first problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from ..core.plan import ParameterPlan, Plan, TensorPlan
from ..measurement import Measurement

GOOD, BAD = 2.0, 10.0
"""Within a factor GOOD of the target a layer is ok; beyond BAD its signal vanishes or explodes."""


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One weight layer of a plan."""

    name: str
    op: str
    shape: tuple[int, ...]
    fan: float | None
    std: float | None
    incoming: float | None
    """E[x^2] of what comes in, where the plan tells."""
    variance: float
    """What x.var() over the whole output measures."""
    correlation: float
    """Of two entries that differ along the first axis (two samples of a batch)."""
    verdict: str
    """As `verdict` says, or "shared": the weight was set for another layer that uses it, too."""
    index: int


@dataclass(slots=True)
class Series:
    """A signal against depth: one point per tensor, in the order of execution."""

    label: str
    variance: list[float] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    weight: list[bool] = field(default_factory=list)
    measured_variance: list[float] | None = None
    measured_mean: list[float] | None = None


def verdict(variance: float, target: float) -> str:
    """ok, low, high, vanishing, exploding; zero where a layer is switched off; invalid for nan and inf."""
    if not isfinite(variance):
        return "exploding" if variance == float("inf") else "invalid"
    if variance == 0.0:
        return "zero"
    ratio = variance / target
    if 1 / GOOD <= ratio <= GOOD:
        return "ok"
    if ratio < 1:
        return "low" if ratio >= 1 / BAD else "vanishing"
    return "high" if ratio <= BAD else "exploding"


def is_problem(word: str) -> bool:
    return word in ("vanishing", "exploding", "invalid")


def layer_rows(plan: Plan) -> list[LayerRow]:
    """The weight layers, in the order of execution."""
    parameters = {p.name: p for p in plan.parameters}
    decided = {p.layer: p for p in plan.parameters if p.layer is not None and p.action in ("set", "gain")}
    return [_layer(row, plan, parameters, decided) for row in plan.weight_layers]


def _layer(
    row: TensorPlan, plan: Plan, parameters: dict[str, ParameterPlan], decided: dict[int, ParameterPlan]
) -> LayerRow:
    parameter = parameters.get(row.weight or "") or decided.get(row.index)
    std = parameter.std if parameter is not None and parameter.action in ("set", "shared") else None
    incoming = row.second / (std**2 * row.fan) if std and row.fan else None
    variance = _number(row.tensor_variance)
    elsewhere = parameter is not None and bool(parameter.parts) and parameter.layer != row.index
    if elsewhere and row.target is None:
        word = "shared"
    else:
        word = verdict(variance if plan.checked else _number(row.variance), row.target or plan.variance)
    return LayerRow(
        row.module or "(model)",
        short_op(row.op),
        tuple(row.shape),
        row.fan,
        std,
        incoming,
        variance,
        row.correlation[0] if row.correlation else 0.0,
        word,
        row.index,
    )


def first_problem(plan: Plan | Measurement) -> TensorPlan | None:
    """The first weight layer whose signal vanishes, explodes or is not a number; None if there is none.

    Of a plan this judges the prediction, of a measurement what was measured.
    """
    if isinstance(plan, Measurement):
        for measured in plan.weight_layers:
            if is_problem(verdict(measured.variance, plan.plan.variance)):
                return measured.predicted
        return None
    by_index = {row.index: row for row in plan.tensors}
    return next((by_index[r.index] for r in layer_rows(plan) if is_problem(r.verdict)), None)


def series(item: Plan | Measurement, label: str | None = None) -> Series:
    """Predicted (and, of a measurement, measured) variance and mean of every tensor."""
    plan = item.plan if isinstance(item, Measurement) else item
    tensors = [row.predicted for row in item.rows] if isinstance(item, Measurement) else item.tensors
    tensors = [t for t in tensors if t.output == 0]
    made = Series(label if label is not None else plan.model)
    for tensor in tensors:
        made.variance.append(_number(tensor.tensor_variance))
        made.mean.append(_number(tensor.mean))
        made.weight.append(tensor.weight is not None)
    if isinstance(item, Measurement):
        rows = [row for row in item.rows if row.predicted.output == 0]
        made.measured_variance = [row.variance for row in rows]
        made.measured_mean = [row.mean for row in rows]
    return made


def short_op(op: str) -> str:
    """Without the framework's name space."""
    return op.rsplit(".", 1)[-1]


def _number(value: float | None) -> float:
    """A saved plan has None for what was not finite."""
    return float("nan") if value is None else float(value)
