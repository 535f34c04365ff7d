"""Predicted gradients, parameter by parameter.

They are those of a loss whose gradients at the model's floating outputs are independent N(0, 1): sizes relative to each
other, and where they vanish or explode, and no promise about a loss or a learning rate.

chi is the slope at 1 of the map of correlations that a layer and the function before it make together: two inputs of
correlation 1 - d come out with 1 - chi d. For y = W f(u) it is E[f'(u)^2] Var u / E[f(u)^2]. A plain chain
of such layers forgets or blows up differences, and so gradients, over about 1/|log chi| layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, log, sqrt
from statistics import median

from ...errors import PlanError
from .plan import PlanData

VANISHING, EXPLODING = 1e-4, 1e6
"""|g|/|w| beyond these is an extreme: with N(0, 1) gradients at the outputs, networks below the first do not train."""


@dataclass(frozen=True, slots=True)
class GradientRow:
    """The gradient of one parameter."""

    parameter: str
    layer: str
    """Where it is used."""
    shape: tuple[int, ...]
    second: float
    """E[(dL/dw)^2] of an entry, over weights, data and gradients at the outputs."""
    weight_second: float | None
    """E[w^2]."""
    chi: float | None = None
    measured: float | None = None
    """The same by automatic differentiation, with `measure(..., gradients=True)`."""

    @property
    def rms(self) -> float:
        return sqrt(max(self.second, 0.0))

    @property
    def ratio(self) -> float | None:
        """|g|/|w|; None for parameters that are zero."""
        return self.rms / sqrt(self.weight_second) if self.weight_second else None

    @property
    def measured_ratio(self) -> float | None:
        """|g|/|w| with the measured gradient."""
        if self.measured is None or not self.weight_second:
            return None
        return sqrt(max(self.measured, 0.0) / self.weight_second)

    @property
    def depth(self) -> float | None:
        """The depth scale 1/|log chi| of a plain chain of such layers."""
        if self.chi is None or self.chi <= 0.0:
            return None
        return 1.0 / abs(log(self.chi)) if abs(self.chi - 1.0) > 1e-9 else inf

    @property
    def verdict(self) -> str:
        """vanishing, exploding or invalid for extremes; zero where nothing comes; else ok."""
        if not isfinite(self.second):
            return "invalid"
        if self.second == 0.0:
            return "zero"
        if self.ratio is None or len(self.shape) < 2 or VANISHING <= self.ratio <= EXPLODING:
            return "ok"
        return "vanishing" if self.ratio < VANISHING else "exploding"


    @property
    def is_extreme(self) -> bool:
        return self.verdict in ("vanishing", "exploding", "invalid")


class GradientData(Sequence[GradientRow]):
    """Rows in the order of the plan's parameters."""

    def __init__(self, rows: Sequence[GradientRow]) -> None:
        self.rows = tuple(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[GradientRow]:
        return iter(self.rows)

    def __getitem__(self, key: int | slice | str) -> GradientRow:  # type: ignore[override]
        """By index, or by the name of the parameter."""
        if isinstance(key, str):
            found = next((row for row in self.rows if row.parameter == key), None)
            if found is None:
                raise PlanError("no gradient of a parameter of that name", received=key,
                                fix="a name of plan.parameters that is trained and reached")  # fmt: skip
            return found
        return self.rows[key]  # type: ignore[return-value]

    @property
    def weights(self) -> list[GradientRow]:
        """Parameters with at least two axes."""
        return [row for row in self.rows if len(row.shape) > 1]

    @property
    def first_bad(self) -> GradientRow | None:
        """The first extreme on the way back from the outputs."""
        return next((row for row in reversed(self.rows) if row.is_extreme), None)

    @property
    def median_ratio(self) -> float | None:
        ratios = [row.ratio for row in self.weights if row.ratio is not None]
        return median(ratios) if ratios else None

    def measured(self, seconds: Mapping[str, float]) -> list[GradientRow]:
        """The rows with what was measured of them."""
        return [replace(row, measured=seconds.get(row.parameter)) for row in self.rows]


def has_gradients(plan: PlanData) -> bool:
    """Whether it was made with ``gradients=True``."""
    return any(p.gradient is not None for p in plan.parameters)


def gradients_of(plan: PlanData) -> GradientData:
    """Those of a plan that has them; none of another."""
    return GradientData(gradient_rows(plan) if has_gradients(plan) else ())


def gradient_rows(plan: PlanData) -> list[GradientRow]:
    """Of a plan that was made with ``gradients=True``."""
    known = [p for p in plan.parameters if p.gradient is not None]
    if not known:
        raise PlanError("the plan has no gradients", where="Plan.gradients", received="a plan made without them",
                        fix="make it with gradients=True")  # fmt: skip
    by_weight = {t.weight: t for t in plan.tensors if t.weight is not None}
    rows = []
    for p in known:
        tensor = by_weight.get(p.name)
        place = tensor.module if tensor is not None else p.name.rpartition(".")[0]
        rows.append(GradientRow(p.name, place, tuple(p.shape), p.gradient or 0.0, p.second,
                                None if tensor is None else tensor.chi))  # fmt: skip
    return rows
