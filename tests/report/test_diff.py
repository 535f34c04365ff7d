"""Two plans side by side: what differs is found, what does not is left out."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from torch import nn

import autoinit


def net(width: int = 16, last: int = 4) -> nn.Module:
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, last))


@pytest.fixture(scope="module")
def plan() -> autoinit.Plan:
    return autoinit.plan(net(), (4, 8))


def test_no_difference(plan: autoinit.Plan, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan.json")
    for other in (plan, autoinit.plan(net(), (4, 8)), autoinit.Plan.load(tmp_path / "plan.json")):
        found = plan.diff(other)
        assert not found and len(found) == 0 and found.verdicts == []
        assert str(found).splitlines()[-1] == found.summary() == "no difference beyond 1 %"


def test_another_variance(plan: autoinit.Plan) -> None:
    """Four times the variance is twice the standard deviation in the first layer; the others get it as input."""
    other = autoinit.plan(net(), (4, 8), variance=4.0)
    found = plan.diff(other)
    assert [(s.name, s.this, s.other) for s in found.settings] == [("variance", 1.0, 4.0)]
    (first,) = found.parameters
    assert first.name == "0.weight" and first.what == ("std",) and first.this and first.other
    assert first.other.std == pytest.approx(2 * (first.this.std or 0))
    assert [layer.name for layer in found.layers] == ["0", "2", "4"]
    assert found.verdicts == []  # each is what was asked for
    text = str(found)
    assert "variance: 1.0 → 4.0" in text and f"{first.this.std:.4g}" in text and f"{first.other.std:.4g}" in text
    assert text.splitlines()[-1] == "different: 1 setting, 1 parameter, 3 weight layers"


def test_shapes_and_parameters_that_one_plan_has(plan: autoinit.Plan) -> None:
    longer = nn.Sequential(*net(last=5), nn.ReLU(), nn.Linear(5, 2))
    found = plan.diff(autoinit.plan(longer, (4, 8)))
    by_name = {p.name: p for p in found.parameters}
    assert set(by_name) == {"4.weight", "4.bias", "6.weight", "6.bias"}
    assert by_name["4.weight"].what == ("shape",) and by_name["6.bias"].what == ("there",)
    assert by_name["6.weight"].this is None and by_name["6.weight"].other is not None
    (layer,) = (layer for layer in found.layers if layer.name == "6")
    assert layer.this is None and layer.verdicts == ("", "ok")
    assert any(line.startswith("6.weight") and "—" in line for line in str(found).splitlines())


def test_actions_and_verdicts(plan: autoinit.Plan) -> None:
    """A checked model keeps its weights; weights times 100 explode."""
    model = net()
    nn.init.normal_(model[2].weight, std=25.0)
    found = plan.diff(autoinit.check(model, (4, 8)))
    assert {s.name for s in found.settings} == {"checked"}
    assert found.parameters[0].what[0] == "action"
    (worst,) = (layer for layer in found.verdicts if layer.name == "2")
    assert worst.verdicts == ("ok", "exploding")
    assert "exploding" in str(found)


def test_tolerance(plan: autoinit.Plan) -> None:
    weight = plan["2.weight"]
    near = replace(weight, parts=[replace(weight.parts[0], std=weight.parts[0].std * 1.05)])
    other = replace(plan, parameters=[near if p.name == near.name else p for p in plan.parameters])
    assert [p.name for p in plan.diff(other).parameters] == ["2.weight"]
    assert not plan.diff(other, tolerance=0.06)
    assert plan.diff(other, tolerance=0)


def test_fillings(plan: autoinit.Plan) -> None:
    weight = plan["2.weight"]
    drawn = replace(weight, parts=[replace(weight.parts[0], kind="orthogonal")])
    other = replace(plan, parameters=[drawn if p.name == drawn.name else p for p in plan.parameters])
    (found,) = plan.diff(other).parameters
    assert found.what == ("filling",) and "orthogonal 16×16" in str(plan.diff(other))


def test_what_is_not_finite_is_compared(plan: autoinit.Plan) -> None:
    broken = [replace(t, variance=math.nan, tensor_variance=math.nan) for t in plan.tensors]
    other = replace(plan, tensors=broken)
    assert len(plan.diff(other).verdicts) == 3
    assert not other.diff(other)


def test_long_differences_are_cut() -> None:
    deep = nn.Sequential(*[nn.Linear(8, 8) for _ in range(30)])
    found = autoinit.plan(deep, (4, 8)).diff(autoinit.check(deep, (4, 8)))
    text = str(found)
    assert len(found.parameters) == 60 and "... and 40 more" in text
    assert len(text.splitlines()) < 60 and max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("wrong", [None, "plan.json", {}])
def test_only_plans_are_compared(plan: autoinit.Plan, wrong: object) -> None:
    with pytest.raises(autoinit.AutoInitError, match=r"Plan\.diff"):
        plan.diff(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [-0.1, 1.0, math.nan, "a", True])
def test_the_tolerance_is_a_share(plan: autoinit.Plan, wrong: float) -> None:
    with pytest.raises(autoinit.AutoInitError, match="share"):
        plan.diff(plan, tolerance=wrong)
