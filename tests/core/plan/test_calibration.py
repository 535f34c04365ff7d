"""What calibration aims at, what a plan expects of one draw, and what a plan file may say of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autoinit import Plan
from autoinit.core.plan.calibration import advice, expected_off, goals, with_factors, without_factors
from autoinit.core.plan.plan import ParameterPlan, PartPlan, TensorPlan
from autoinit.errors import PlanError


def row(index: int, scatter: float = 0.0, ratio: float = 1.0, **more: Any) -> TensorPlan:
    """A layer with target 1, of which the whole tensor shows `ratio` as its variance."""
    known: dict[str, Any] = {"weight": f"w{index}", "target": 1.0, **more}
    return TensorPlan(index, f"layer{index}", "linear", 1, 0, [8, 4], 0.0, 1.0, ratio, 1.0, [0.0, 0.0], scatter=scatter,
                      **known)  # fmt: skip


def plan_of(*rows: TensorPlan, **more: Any) -> Plan:
    """Every row has a weight of its own."""
    parts = [[PartPlan([4, 4], [4, 1], 0, "random", 0.5, layer=r.index)] for r in rows]
    parameters = [ParameterPlan(f"w{r.index}", [4, 4], "set", "", p, r.index) for r, p in zip(rows, parts, strict=True)]
    return Plan("M", "torch", 1.0, "normal", 0, True, parameters, list(rows), [], **more)


def test_the_goal_is_what_the_whole_tensor_shows_at_the_target() -> None:
    found = goals(plan_of(row(0, ratio=0.9), row(1, target=0.25)))
    assert [goal.variance for goal in found.values()] == [0.9, 0.25]
    assert [goal.parts for goal in found.values()] == [(("w0", 0),), (("w1", 0),)]


def test_layers_without_a_target_and_tensors_that_are_nearly_one_number_have_none() -> None:
    assert not goals(plan_of(row(0, target=None), row(1, ratio=0.4)))
    assert len(goals(plan_of(row(0, target=None), row(1, ratio=0.4)), variance=2.0)) == 2  # LSUV takes them all


def test_the_factor_mends_and_several_parts_share_it() -> None:
    one = next(iter(goals(plan_of(row(0))).values()))
    assert one.factor(4.0) == 0.5 and one.factor(0.0) is None and one.factor(float("nan")) is None
    assert one.met(1.005, 0.01) and not one.met(1.02, 0.01)
    assert replace(one, parts=(("a", 0), ("b", 0))).factor(16.0) == 0.5


def test_the_expected_number_of_layers_that_miss_is_that_of_draws() -> None:
    """log x.var() ~ N(-s²/2, s²): 200,000 draws for each of four spreads; standard error of a share below 0.0012."""
    rng = np.random.default_rng(0)
    spreads = [0.05, 0.2, 0.5, 1.5]
    missed = 0.0
    for s in spreads:
        logs = rng.normal(-s * s / 2, s, 200_000)
        missed += float((np.abs(logs) > np.log(1.25)).mean())
    assert expected_off(plan_of(*(row(k, s) for k, s in enumerate(spreads)))) == pytest.approx(missed, abs=0.01)


def test_advice_where_it_pays() -> None:
    assert "in 9 of 10 layers (calibrate=True)" in advice(plan_of(*(row(k, 1.5) for k in range(10))))
    assert advice(plan_of(*(row(k, 0.05) for k in range(10)))) == ""
    assert advice(plan_of(row(0, 2.0), checked=True)) == ""


def test_factors_can_be_taken_off_again() -> None:
    plan = plan_of(row(0), row(1))
    made = with_factors(plan, {("w1", 0): 1.5}, seed=4)
    assert (made.seed, made.calibrated, made["w1"].std, made["w0"].std) == (4, True, 0.75, 0.5)
    assert without_factors(made) == replace(plan, seed=4)


@pytest.mark.parametrize("factor", [0.0, -1.0])
def test_a_factor_that_is_not_positive_is_refused(factor: float) -> None:
    data = plan_of(row(0)).to_dict()
    data["parameters"][0]["parts"][0]["factor"] = factor
    with pytest.raises(PlanError, match="positive number"):
        Plan.from_dict(data)


def test_a_layer_that_is_not_there_is_refused() -> None:
    data = plan_of(row(0)).to_dict()
    data["parameters"][0]["parts"][0]["layer"] = 7
    with pytest.raises(PlanError, match="the plan has 1 tensors"):
        Plan.from_dict(data)
