"""Calibration: which parts of parameters are scaled so that one draw, and not the mean over draws, is on target.

A solved layer has E[y^2] = target over draws and data, of which x.var() over the whole tensor is `tensor_variance`. One
draw misses that by a factor; as the output is proportional to the weight, the root of its inverse on the weight's
standard deviation mends it. The factors are part of the plan: whoever applies it needs no further run, and gets the
same weights.

A tensor that is nearly one number (few outputs for inputs that are alike) has hardly a variance of its own. Its layer
keeps the scale that is right on average, and so does a weight that was read before a later use decided it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import erfc, isfinite, log, sqrt

from .measured import Key, key_of
from .plan import PlanData, SlopePlan, SomePlan, TensorPlan

Place = tuple[str, int]
"""A parameter, and the number of its part."""
LEAST_SHARE = 0.5
"""Of a tensor's second moment that has to be x.var(), for one draw of it to tell the scale of its weight."""
RUNAWAY = 3.0
"""A plan speaks of deviations that are raised to a higher power than this, a little more than e."""
WORTHWHILE = 0.1
"""A plan speaks of calibration from this share of layers on."""
PASSES = 4
"""Forwards, at most; one is enough unless the model computes weights from parameters, or keeps biases."""
TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class Goal:
    """What x.var() of a tensor is to be, and what decides it."""

    variance: float
    parts: tuple[Place, ...]
    biases: tuple[Place, ...] = ()
    """Centring biases, which follow their weights."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.parts))

    def factor(self, variance: float) -> float | None:
        """What a measured variance asks of each part; None if no factor helps."""
        if not variance > 0 or not isfinite(variance):
            return None
        return float(sqrt(self.variance / variance) ** (1.0 / len(self.parts)))

    def met(self, variance: float, tolerance: float) -> bool:
        return abs(variance / self.variance - 1.0) <= tolerance


def goals(plan: PlanData, variance: float | None = None) -> dict[Key, Goal]:
    """The goals of a plan's layers by the key of their tensors.

    `variance`: the same one for all, as LSUV has it, which also scales a table where it is looked up.
    """
    parts, biases = defaultdict[int, list[Place]](list), defaultdict[tuple[str, int], list[Place]](list)
    looked_up = {row.weight: row.index for row in plan.tensors if row.tied} if variance is not None else {}
    offsets: dict[Place, int] = {}
    for entry in plan.parameters:
        for k, part in enumerate(entry.parts):
            offsets[entry.name, k] = part.offset
            if part.kind == "centre":
                biases[part.of, part.of_offset].append((entry.name, k))
            elif part.layer is not None and entry.action in ("set", "gain"):
                parts[looked_up.get(entry.name, part.layer)].append((entry.name, k))
    made: dict[Key, Goal] = {}
    read: set[str] = set()
    for row in plan.tensors:
        decided = [place for place in parts[row.index] if variance is not None or place[0] not in read]
        if row.target is None and row.weight is not None:
            read.add(row.weight)
        wanted = variance if variance is not None else _variance(row)
        if decided and wanted is not None:
            follow = (bias for place in decided for bias in biases[place[0], offsets[place]])
            made[key_of(row)] = Goal(wanted, tuple(decided), tuple(dict.fromkeys(follow)))
    return made


def _variance(row: TensorPlan) -> float | None:
    """The x.var() that goes with the target; None where it says little of the draw."""
    if not row.target or not row.second > 0.0 or not row.tensor_variance > LEAST_SHARE * row.second:
        return None
    return row.target * row.tensor_variance / row.second


def expected_off(plan: PlanData, factor: float = 1.25) -> float:
    """How many of the layers with a target one draw is expected to miss by more than a factor.

    log(x.var()) is taken as normal around -s^2/2 of that of the mean, s being the row's `scatter`.
    """
    width = log(factor)
    spreads = [row.scatter for row in plan.tensors if row.target and row.weight is not None and row.scatter > 0.0]
    return sum(1.0 - _below((width + s * s / 2) / s) + _below((s * s / 2 - width) / s) for s in spreads)


def runaway(plan: PlanData) -> SlopePlan | None:
    """Where deviations have grown most, if they run away."""
    worst = max(plan.slopes, key=lambda one: one.power, default=None)
    return worst if worst is not None and worst.power > RUNAWAY else None


def _below(z: float) -> float:
    """The normal distribution function."""
    return 0.5 * erfc(-z * sqrt(0.5))


def advice(plan: PlanData) -> str:
    """Whether it is worthwhile to calibrate, in one line; empty if it is not, or is done."""
    layers = sum(row.target is not None and row.weight is not None for row in plan.tensors)
    off = expected_off(plan)
    if plan.calibrated:
        return f"calibrated: the draw of seed {plan.seed} is on target"
    if plan.checked or off < max(1.0, WORTHWHILE * layers):
        return ""
    return f"one draw is expected to be off by more than 1.25× in {off:.0f} of {layers} layers (calibrate=True)"


def without_factors(plan: SomePlan) -> SomePlan:
    """The plan of the expectation."""
    parameters = [replace(p, parts=[replace(part, factor=1.0) for part in p.parts]) for p in plan.parameters]
    return replace(plan, parameters=parameters, calibrated=False)


def with_factors(plan: SomePlan, factors: Mapping[Place, float], seed: int) -> SomePlan:
    """The plan of the draw that the factors belong to."""
    parameters = [
        replace(p, parts=[replace(part, factor=factors.get((p.name, k), 1.0)) for k, part in enumerate(p.parts)])
        for p in plan.parameters
    ]
    return replace(plan, parameters=parameters, calibrated=True, seed=seed)
