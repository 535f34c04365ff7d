"""What two plans do not have in common: settings, parameters, signals of weight layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose, isfinite
from typing import Any

from ..core.plan.measured import Key, key_of
from ..core.plan.plan import ParameterPlan, PartPlan, PlanData
from ..errors import OptionError
from ..names import shown
from .data import LayerRow, layer_rows
from .layout import WIDTH, Column, aligned, cut, number, times

TOLERANCE = 0.01
MOST_LINES = 20
"""Of each of the two tables."""
SETTINGS = ("model", "framework", "variance", "distribution", "seed", "training", "checked", "exact")
MISSING = "—"
PARAMETER_COLUMNS = (
    Column("parameter", left=True), Column("differs in", left=True), Column("this", left=True),
    Column("other", left=True),
)  # fmt: skip
LAYER_COLUMNS = (
    Column("layer", left=True), Column("op", left=True, spare=1), Column("variance, this"), Column("other"),
    Column("verdict, this", left=True), Column("other", left=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SettingDifference:
    """An option, or what the plan is of: `name` is that of the plan's attribute."""

    name: str
    this: str | float | bool
    other: str | float | bool


@dataclass(frozen=True, slots=True)
class ParameterDifference:
    """A parameter that is treated in two ways; None where a plan does not have it."""

    name: str
    this: ParameterPlan | None
    other: ParameterPlan | None
    what: tuple[str, ...]
    """What differs: "shape", "action", "std", "filling" (what is drawn, or which part of it); or "there"."""


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """A weight layer whose predicted signal or verdict differs; None where a plan does not have it."""

    name: str
    op: str
    this: LayerRow | None
    other: LayerRow | None

    @property
    def verdicts(self) -> tuple[str, str]:
        """This and the other one, "" where there is none."""
        return (self.this.verdict if self.this else "", self.other.verdict if self.other else "")


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """What `plan.diff(other)` found; printed, a small table. False in a condition if there is no difference."""

    this: str
    other: str
    """One line for each of the two plans."""
    tolerance: float
    settings: tuple[SettingDifference, ...]
    parameters: tuple[ParameterDifference, ...]
    layers: tuple[LayerDifference, ...]

    @property
    def verdicts(self) -> list[LayerDifference]:
        """The layers whose verdict is another one."""
        return [layer for layer in self.layers if layer.verdicts[0] != layer.verdicts[1]]

    def __bool__(self) -> bool:
        return bool(self.settings or self.parameters or self.layers)

    def __len__(self) -> int:
        return len(self.settings) + len(self.parameters) + len(self.layers)

    def summary(self) -> str:
        """One line."""
        if not self:
            return f"no difference beyond {100 * self.tolerance:g} %"
        counts = (("setting", self.settings), ("parameter", self.parameters), ("weight layer", self.layers))
        words = [f"{len(found)} {what}{'' if len(found) == 1 else 's'}" for what, found in counts if found]
        verdicts = len(self.verdicts)
        told = f" ({verdicts} {'verdict' if verdicts == 1 else 'verdicts'})" if verdicts else ""
        return f"different: {', '.join(words)}{told}"

    def __repr__(self) -> str:
        return f"<PlanDiff: {self.summary()}>"

    def __str__(self) -> str:
        return self.table()

    def table(self, width: int = WIDTH) -> str:
        """As text of so many columns."""
        lines = [f"this:  {self.this}", f"other: {self.other}"]
        lines += [f"{s.name}: {shown(str(s.this))} → {shown(str(s.other))}" for s in self.settings]
        for columns, cells in (
            (PARAMETER_COLUMNS, [_parameter_cells(p) for p in self.parameters]),
            (LAYER_COLUMNS, [_layer_cells(layer) for layer in self.layers]),
        ):
            more = [f"... and {len(cells) - MOST_LINES} more"] if len(cells) > MOST_LINES else []
            if cells:
                lines += ["", *aligned(columns, [*cells[:MOST_LINES], *more], width)]
        return "\n".join(cut(line, width) for line in [*lines, "", self.summary()])


def diff(this: PlanData, other: PlanData, tolerance: float = TOLERANCE) -> PlanDiff:
    """Compare two plans; numbers that differ by no more than this share of the larger one count as equal."""
    if not isinstance(other, PlanData):
        raise OptionError("a plan is compared with a plan", where="Plan.diff", received=type(other).__name__,
                          fix="plan.diff(autoinit.plan(...)), or of autoinit.check(model, inputs)")  # fmt: skip
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or not 0 <= tolerance < 1:
        raise OptionError("the tolerance is a share", where="Plan.diff", received=shown(repr(tolerance)),
                          fix="a number from 0 up to 1, for instance tolerance=0.01")  # fmt: skip
    settings = [SettingDifference(name, getattr(this, name), getattr(other, name)) for name in SETTINGS]
    return PlanDiff(
        repr(this), repr(other), tolerance, tuple(s for s in settings if s.this != s.other),
        tuple(_parameters(this, other, tolerance)), tuple(_layers(this, other, tolerance)),
    )  # fmt: skip


def _parameters(this: PlanData, other: PlanData, tolerance: float) -> list[ParameterDifference]:
    mine, theirs = ({p.name: p for p in plan.parameters} for plan in (this, other))
    made = []
    for name in {**mine, **theirs}:
        one, two = mine.get(name), theirs.get(name)
        what = ("there",) if one is None or two is None else _what(one, two, tolerance)
        if what:
            made.append(ParameterDifference(name, one, two, what))
    return made


def _what(one: ParameterPlan, two: ParameterPlan, tolerance: float) -> tuple[str, ...]:
    what = []
    if one.shape != two.shape:
        what.append("shape")
    if one.action != two.action:
        what.append("action")
    if len(one.parts) == len(two.parts) and not _near(_stds(one), _stds(two), tolerance):
        what.append("std")
    if [_filling(p) for p in one.parts] != [_filling(p) for p in two.parts] and not what:
        what.append("filling")
    return tuple(what)


def _stds(parameter: ParameterPlan) -> list[float]:
    return [x for part in parameter.parts for x in (part.std, part.value)]


def _filling(part: PartPlan) -> tuple[Any, ...]:
    """All but its numbers."""
    return (part.kind, part.shape, part.stride, part.offset, part.rows, part.groups, part.of)


def _layers(this: PlanData, other: PlanData, tolerance: float) -> list[LayerDifference]:
    mine, theirs = _rows(this), _rows(other)
    made = []
    for key in {**mine, **theirs}:
        one, two = mine.get(key), theirs.get(key)
        known = one or two
        if known is not None and (one is None or two is None or not _alike(one, two, tolerance)):
            made.append(LayerDifference(known.name, known.op, one, two))
    return made


def _rows(plan: PlanData) -> dict[Key, LayerRow]:
    return {key_of(plan.tensors[row.index]): row for row in layer_rows(plan)}


def _alike(one: LayerRow, two: LayerRow, tolerance: float) -> bool:
    return one.verdict == two.verdict and _near([one.variance], [two.variance], tolerance)


def _near(some: Sequence[float], others: Sequence[float], tolerance: float) -> bool:
    """Whether numbers are equal, up to a share; what is no finite number equals what is none either."""
    return all(
        isclose(a, b, rel_tol=tolerance) or not (isfinite(a) or isfinite(b)) for a, b in zip(some, others, strict=True)
    )


def _parameter_cells(item: ParameterDifference) -> list[str]:
    what = item.what if item.this and item.other else ("action", "std", "shape")
    sides = [", ".join(_said(p, what)) if p else MISSING for p in (item.this, item.other)]
    return [shown(item.name), ", ".join(item.what), *sides]


def _said(parameter: ParameterPlan, what: Sequence[str]) -> list[str]:
    """The side of a parameter that differs, in words."""
    words = {"shape": times(parameter.shape) or "()", "action": parameter.action}
    stds = [f"{part.std:.4g}" for part in parameter.parts]
    if stds:
        words["std"] = " | ".join(dict.fromkeys(stds))
    words["filling"] = " | ".join(dict.fromkeys(f"{p.kind} {times(p.shape)}" for p in parameter.parts)) or "nothing"
    wanted = dict.fromkeys([*what, "std"] if "action" in what else what)
    return [words[name] for name in wanted if name in words]


def _layer_cells(item: LayerDifference) -> list[str]:
    variances = [MISSING if row is None else number(row.variance) for row in (item.this, item.other)]
    return [item.name, item.op, *variances, *(word or MISSING for word in item.verdicts)]
