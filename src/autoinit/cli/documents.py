"""What `--json` writes, as plain data. The fields here are the format: `schemas/` is printed from them.

A plan is written as `Plan.save` writes it. Each document begins with its kind and the number of its format; within one
number fields may be added, and none is removed or means something else.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from ..core.plan.measured import Row
from ..core.plan.plan import ParameterPlan
from ..core.plan.preflight import Preflight
from ..measurement import Measurement
from ..report.data import LayerRow, measured_rows
from ..report.diff import PlanDiff

FORMATS = {"measurement": 1, "diff": 1, "preflight": 1}


@dataclass(frozen=True, slots=True)
class MeasuredTensor:
    """One tensor; null stands for what is no finite number."""

    layer: str
    op: str
    call: int
    output: int
    shape: list[int]
    weight: str | None
    predicted_mean: float | None
    predicted_variance: float | None
    mean: float | None
    variance: float | None
    ratio: float | None
    verdict: str | None
    """Of weight layers."""


@dataclass(frozen=True, slots=True)
class MeasurementDocument:
    model: str
    framework: str
    training: bool
    variance: float
    tensors: list[MeasuredTensor]


@dataclass(frozen=True, slots=True)
class FoundProblem:
    name: str
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class PreflightDocument:
    model: str
    ok: bool
    tensors: int
    problems: list[FoundProblem]


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    this: str
    other: str


@dataclass(frozen=True, slots=True)
class ParameterSide:
    action: str
    shape: list[int]
    std: float | None


@dataclass(frozen=True, slots=True)
class DifferentParameter:
    name: str
    what: list[str]
    this: ParameterSide | None
    other: ParameterSide | None


@dataclass(frozen=True, slots=True)
class LayerSide:
    variance: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class DifferentLayer:
    name: str
    op: str
    this: LayerSide | None
    other: LayerSide | None


@dataclass(frozen=True, slots=True)
class DiffDocument:
    tolerance: float
    settings: list[Setting]
    parameters: list[DifferentParameter]
    layers: list[DifferentLayer]


def measurement_document(made: Measurement) -> dict[str, Any]:
    verdicts = {row.index: row.verdict for row in measured_rows(made)}
    plan = made.plan
    tensors = [_tensor(row, verdicts.get(row.predicted.index)) for row in made.rows]
    made_of = plan.model, plan.framework, plan.training, plan.variance
    return _document("measurement", MeasurementDocument(*made_of, tensors))


def preflight_document(found: Preflight) -> dict[str, Any]:
    problems = [FoundProblem(p.name, p.kind, p.what) for p in found.problems]
    return _document("preflight", PreflightDocument(found.model, found.ok, len(found.contents), problems))


def diff_document(found: PlanDiff) -> dict[str, Any]:
    settings = [Setting(s.name, str(s.this), str(s.other)) for s in found.settings]
    parameters = [
        DifferentParameter(p.name, list(p.what), _parameter(p.this), _parameter(p.other)) for p in found.parameters
    ]
    layers = [DifferentLayer(row.name, row.op, _layer(row.this), _layer(row.other)) for row in found.layers]
    return _document("diff", DiffDocument(found.tolerance, settings, parameters, layers))


def _document(kind: str, content: Any) -> dict[str, Any]:
    return {f"autoinit_{kind}": FORMATS[kind], **asdict(content)}


def _tensor(row: Row, verdict: str | None) -> MeasuredTensor:
    tensor = row.predicted
    return MeasuredTensor(
        tensor.module, tensor.op, tensor.call, tensor.output, list(tensor.shape), tensor.weight, _finite(tensor.mean),
        _finite(tensor.tensor_variance), _finite(row.mean), _finite(row.variance), _finite(row.ratio), verdict,
    )  # fmt: skip


def _parameter(side: ParameterPlan | None) -> ParameterSide | None:
    return None if side is None else ParameterSide(side.action, list(side.shape), side.std)


def _layer(side: LayerRow | None) -> LayerSide | None:
    return None if side is None else LayerSide(_finite(side.variance), side.verdict)


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
