"""What a plan says of a layer in one word."""

from __future__ import annotations

from math import inf, isfinite, nan
from typing import Literal, get_args

from .plan import ParameterPlan, PlanData, TensorPlan

GOOD, BAD = 2.0, 10.0
"""Within a factor GOOD of the target a layer is ok; beyond BAD its signal vanishes or explodes."""

Verdict = Literal["ok", "low", "high", "vanishing", "exploding", "invalid", "zero", "shared", "frozen"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
PROBLEMS: tuple[Verdict, ...] = ("vanishing", "exploding", "invalid")
OFF: tuple[Verdict, ...] = ("low", "high")
WORST_FIRST: tuple[Verdict, ...] = (
    "invalid", "exploding", "vanishing", "high", "low", "ok", "frozen", "shared", "zero",
)  # fmt: skip


def verdict(variance: float, target: float) -> Verdict:
    """ok, low, high, vanishing, exploding; zero where a layer is switched off; invalid for nan and inf."""
    if not isfinite(variance):
        return "exploding" if variance == inf else "invalid"
    if variance == 0.0:
        return "zero"
    ratio = variance / target
    if 1 / GOOD <= ratio <= GOOD:
        return "ok"
    if ratio < 1:
        return "low" if ratio >= 1 / BAD else "vanishing"
    return "high" if ratio <= BAD else "exploding"


def is_problem(word: str) -> bool:
    return word in PROBLEMS


class Judge:
    """The verdicts of one plan."""

    def __init__(self, plan: PlanData) -> None:
        self.plan = plan
        self.parameters = {p.name: p for p in plan.parameters}
        self.decided = {p.layer: p for p in plan.parameters if p.layer is not None and p.action in ("set", "gain")}
        self.trains = any(not p.frozen for p in plan.parameters)

    def parameter(self, layer: TensorPlan) -> ParameterPlan | None:
        """The one that a weight layer contracts with, or the one that was set for it."""
        return self.parameters.get(layer.weight or "") or self.decided.get(layer.index)

    def predicted(self, layer: TensorPlan) -> Verdict:
        """Of the prediction: "shared" if the weight was set for another layer that uses it, too."""
        parameter = self.parameter(layer)
        elsewhere = parameter is not None and bool(parameter.parts) and parameter.layer != layer.index
        if (elsewhere or layer.tied) and layer.target is None:
            return "shared"
        return self._excused(layer, layer.tensor_variance if self.plan.checked else layer.variance)

    def measured(self, layer: TensorPlan, variance: float) -> Verdict:
        """Of what was measured there."""
        return "shared" if layer.tied else self._excused(layer, variance)

    def _excused(self, layer: TensorPlan, variance: float | None) -> Verdict:
        """Nobody wants a frozen weight to be another one: only numbers that are not finite count against it.

        A model that is frozen as a whole is judged as any other.
        """
        value = nan if variance is None else variance  # a saved plan has None for what was not finite
        word = verdict(value, layer.target or self.plan.variance)
        parameter = self.parameter(layer)
        frozen = self.trains and parameter is not None and parameter.frozen
        return "frozen" if frozen and isfinite(value) and word in (*PROBLEMS, *OFF) else word
