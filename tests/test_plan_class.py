"""The plan that users get: one class, whatever made it, and it can be copied, pickled, cut and read back."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

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
