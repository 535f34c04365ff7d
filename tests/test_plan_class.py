"""The plan that users get: one class, whatever made it, and it can be copied, pickled, cut and read back."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import autoinit
from autoinit.measurement import Measurement

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda item: pickle.loads(pickle.dumps(item)),
    "replace": replace,
}


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))


@pytest.fixture(scope="module")
def plan() -> autoinit.Plan:
    return autoinit.plan(net(), (4, 8))


@pytest.mark.parametrize("way", COPIES)
def test_copies(plan: autoinit.Plan, way: str) -> None:
    made = COPIES[way](plan)
    assert type(made) is autoinit.Plan and made == plan and str(made) == str(plan)
    made.apply(net())


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_measurements(way: str) -> None:
    measured = autoinit.measure(net(), (4, 8))
    made = COPIES[way](measured)
    assert type(made) is Measurement and type(made.plan) is autoinit.Plan and str(made) == str(measured)


def test_every_way_to_a_plan(plan: autoinit.Plan, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan.json")
    made = [
        autoinit.initialize(net(), (4, 8)),
        autoinit.check(net(), (4, 8)),
        autoinit.Plan.load(tmp_path / "plan.json"),
        autoinit.Plan.from_dict(plan.to_dict()),
        plan.restricted({"0.weight"}),
    ]
    assert [type(one) for one in made] == [autoinit.Plan] * 5


def test_a_plan_takes_no_other_attributes(plan: autoinit.Plan) -> None:
    with pytest.raises(AttributeError):
        plan.seeds = 3  # type: ignore[attr-defined]


def test_a_plan_is_a_collection_of_parameters(plan: autoinit.Plan) -> None:
    assert len(plan) == 4
    assert [p.name for p in plan] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert next(iter(plan)) in plan and "0.weight" in plan and "2" in plan
    assert "1" in plan  # the activation has no parameters, and its output is predicted
    assert "3" not in plan and "" not in plan and "0.wei" not in plan and 0 not in plan
    assert plan["2.bias"] is plan.parameters[3] is plan.parameter("2.bias")


def test_a_plan_without_parameters_is_still_true(plan: autoinit.Plan) -> None:
    empty = replace(plan, parameters=[])
    assert empty and len(empty) == 0


def test_a_layer_of_a_plan() -> None:
    model = nn.Sequential(net(), nn.Sequential(nn.Linear(4, 4), nn.Tanh()), nn.Linear(4, 2))
    plan = autoinit.plan(model, (4, 8))
    block = plan.layer("0")
    assert block == plan["0"] and "0.2" in plan
    assert [p.name for p in block.parameters] == ["0.0.weight", "0.0.bias", "0.2.weight", "0.2.bias"]
    assert [t.module for t in block.tensors] == ["0.0", "0.1", "0.2"]
    assert block.verdict == "ok" and block.shape == [4, 4] and len(block.weight_layers) == 2
    assert block.std == plan.parameter("0.0.weight").std
    assert plan.layer("1").variance == plan.tensors[4].tensor_variance and plan.layer("1").mean == plan.tensors[4].mean
    assert plan.layer("1.1").verdict is None and plan.layer("1.1").std is None and plan.layer("1.1").parameters == ()
    assert repr(block) == "<Layer 0: 4 parameters, 3 tensors, ok>"


def test_the_worst_verdict_of_a_block() -> None:
    model = nn.Sequential(net(), nn.Linear(4, 2))
    autoinit.initialize(model, (4, 8))
    nn.init.normal_(model[0][2].weight, std=1e3)
    found = autoinit.check(model, (4, 8))
    assert found.layer("0").verdict == "exploding" and found.layer("0.0").verdict == "ok"


def test_tied_parameters_have_several_names() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
    model[2].weight = model[0].weight
    found = autoinit.plan(model, (4, 8))
    assert found["2.weight"] is found["0.weight"] and found["0.weight"].aliases == ["2.weight"]
    assert found["0.weight"] in found.layer("2").parameters


@pytest.mark.parametrize(("wrong", "fix"), [("0.wieght", "did you mean '0.weight'"), ("q", "one of: 0.weight, 0.bias")])
def test_unknown_names(plan: autoinit.Plan, wrong: str, fix: str) -> None:
    with pytest.raises(autoinit.AutoInitError, match="no parameter or module") as error:
        plan[wrong]
    assert fix in str(error.value)
    with pytest.raises(autoinit.AutoInitError):
        plan.layer(wrong)
    with pytest.raises(autoinit.AutoInitError):
        plan.parameter("0")


def test_a_healthy_plan_has_no_problems(plan: autoinit.Plan) -> None:
    assert plan.ok and plan.problems == []


def test_problems_are_told_with_their_place() -> None:
    model = net()
    model.append(nn.Linear(4, 4)).append(nn.Linear(4, 4))
    model.register_parameter("unused", nn.Parameter(model[0].weight.detach().clone()))
    autoinit.initialize(model, (64, 8), warn=False)
    nn.init.normal_(model[2].weight, std=1e4)
    model[3].weight.data /= 4e2
    model[4].weight.data *= float("nan")
    found = autoinit.check(model, (64, 8), warn=False)
    assert not found.ok
    first, *others = found.problems
    assert (first.place, first.severity, first.verdict) == ("2", "error", "exploding")
    assert first.predicted == found.layer("2").variance and "exploding" in str(first)
    assert [(p.place, p.severity) for p in others] == [
        ("3", "error"), ("4.weight", "warning"), ("unused", "warning"),
    ]  # fmt: skip
    assert "not reached" in others[-1].what and others[-1].predicted is None and others[-1].verdict is None


def test_what_is_only_off_is_no_error() -> None:
    model = net()
    autoinit.initialize(model, (4, 8))
    model[2].weight.data *= 2
    found = autoinit.check(model, (4, 8))
    assert found.ok and [(p.place, p.verdict, p.severity) for p in found.problems] == [("2", "high", "warning")]


def fine_tuning(freeze_all: bool = False) -> nn.Module:
    """A network whose first part is trained (large weights), with a new head."""
    model = net()
    nn.init.normal_(model[0].weight, std=1e2)
    model.append(nn.Linear(4, 3))
    for parameter in model.parameters() if freeze_all else model[0].parameters():
        parameter.requires_grad_(False)
    return model


@pytest.mark.parametrize("look", [autoinit.plan, autoinit.check], ids=["plan", "check"])
def test_frozen_layers_are_no_problem(look: Any) -> None:
    found = look(fine_tuning(), (4, 8), only=["3.*"], warn=False)
    assert found.layer("0").verdict == "frozen" and found["0.weight"].frozen and not found["2.weight"].frozen
    assert [p.place for p in found.problems if p.verdict] == ["2"] + ["3"] * (look is autoinit.check)
    assert "first problem: 2 " in str(found)
    measured = autoinit.measure(fine_tuning(), (4, 8), warn=False)
    assert "first problem: 2 " in str(measured)


def test_frozen_numbers_that_are_not_finite_are() -> None:
    model = fine_tuning()
    model[0].weight.data[:] = 1e30
    measured = autoinit.measure(model, (4, 8), warn=False)
    assert measured.rows[0].variance == float("inf") and "first problem: 0 " in str(measured)


def test_a_model_that_is_frozen_as_a_whole_is_judged_as_any() -> None:
    assert autoinit.check(fine_tuning(freeze_all=True), (4, 8), warn=False).layer("0").verdict == "exploding"
