"""The public functions: plan, initialize, check, measure, rules of the user's own, plans as files."""

from __future__ import annotations

import json
import math

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input, Plan, Signal  # noqa: E402


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 10))


# --- plan, initialize, check, measure -------------------------------------------------


def test_initialize_is_plan_and_apply() -> None:
    first, second = mlp(), mlp()
    plan = autoinit.initialize(first, (16, 64), seed=3)
    autoinit.plan(second, (16, 64)).apply(second, seed=3)
    assert isinstance(plan, Plan)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)


def test_apply_on_a_fresh_model_of_the_same_kind() -> None:
    plan = autoinit.plan(mlp(), (16, 64))
    fresh = mlp()
    assert plan.apply(fresh) is fresh
    expected = mlp()
    autoinit.initialize(expected, (16, 64))
    assert torch.equal(fresh[2].weight, expected[2].weight)


def test_check_describes_the_present_weights() -> None:
    model = mlp()
    with torch.no_grad():
        model[2].weight.mul_(10 / model[2].weight.std())
    plan = autoinit.check(model, (16, 64))
    assert plan.checked and not list(plan.changed())
    assert all(p.action == "kept" for p in plan.parameters)
    with torch.no_grad():
        y = model[:3](torch.randn(4096, 64, generator=torch.Generator().manual_seed(0)))
    # One set of weights: its 64 rows have sums of their own, which moments describe to about sqrt(2 / 64) of a third.
    assert plan.weight_layers[1].second == pytest.approx(float(y.square().mean()), rel=0.1)


def test_measure_puts_measured_beside_predicted() -> None:
    model = mlp()
    autoinit.initialize(model, (256, 64))
    found = autoinit.measure(model, (256, 64), repeats=4)
    assert [r.predicted.module for r in found.weight_layers] == ["0", "2", "4"]
    assert [r.predicted.op for r in found.rows] == [
        "aten.linear",
        "aten.relu",
        "aten.linear",
        "aten.tanh",
        "aten.linear",
    ]
    for row in found.rows:
        assert row.ratio == pytest.approx(1.0, abs=0.15)  # predicted from these very weights
    assert found.within(1.5) == 1.0
    assert found.within(1.5, target=1.0) == 1.0
    assert found.within(1.5, target=100.0) == 0.0


def test_measure_uses_the_batch_that_is_given() -> None:
    model = nn.Linear(64, 64)
    batch = 3 + torch.randn(128, 64, generator=torch.Generator().manual_seed(0))
    found = autoinit.measure(model, batch)
    with torch.no_grad():
        y = model(batch).double()
    assert found.rows[0].variance == pytest.approx(float(y.var(correction=0)), rel=1e-4)
    assert found.rows[0].mean == pytest.approx(float(y.mean()), rel=1e-4)


@pytest.mark.parametrize("correlation", [0.0, 0.5, {0: 0.9, 1: 0.2}])
def test_measured_noise_has_the_described_statistics(correlation) -> None:
    """A layer that does nothing shows what went in. x.var() misses the part that all entries have in common."""

    class Pass(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.ones(()))

        def forward(self, x):
            return x * self.scale

    inputs = Input((64, 256), mean=2.0, variance=3.0, correlation=correlation)
    found = autoinit.measure(Pass(), inputs, repeats=40)
    (row,) = found.rows
    expected = inputs.signal().tensor_variance()
    assert row.predicted.tensor_variance == pytest.approx(expected, rel=1e-6)
    assert row.variance == pytest.approx(expected, rel=0.15)


def test_unknown_batch_size_is_large() -> None:
    plan = autoinit.plan(nn.Linear(64, 64), Input((None, 64)))
    assert plan.tensors[0].shape == [64, 64]
    assert plan["weight"].std == pytest.approx(1 / 8, rel=1e-6)


def test_variance_option() -> None:
    for variance in (0.25, 1, 9.0):
        plan = autoinit.plan(mlp(), (16, 64), variance=variance)
        assert [t.second for t in plan.weight_layers] == pytest.approx([variance] * 3, rel=1e-6)
        assert plan.variance == variance


def test_skip_and_only_take_names_of_tied_parameters() -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 16))
    model[1].weight = model[0].weight
    plan = autoinit.plan(model, (4, 16), skip="1.*")
    assert plan["0.weight"].reason == "skipped by name"


# --- plans as data -------------------------------------------------


def test_plan_round_trip(tmp_path) -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 3), nn.Flatten(), nn.Linear(128, 4)
    )
    plan = autoinit.plan(model, (8, 3, 8, 8), center="bias", seed=11)
    path = tmp_path / "plan.json"
    plan.save(path)
    loaded = Plan.load(path)
    assert loaded == plan
    assert json.loads(path.read_text()) == plan.to_dict()
    expected = {n: p.clone() for n, p in plan.apply(model).named_parameters()}
    for p in model.parameters():
        nn.init.zeros_(p.data)
    nn.init.ones_(model[1].weight)
    loaded.apply(model)
    for name, p in model.named_parameters():
        assert torch.equal(p, expected[name]), name


def test_plan_is_strict_json_even_with_infinities(tmp_path) -> None:
    plan = autoinit.plan(mlp(), (16, 64))
    plan.tensors[0].mean = math.inf
    plan.tensors[0].fan = math.nan
    plan.save(tmp_path / "plan.json")
    loaded = Plan.load(tmp_path / "plan.json")
    assert loaded.tensors[0].mean is None and loaded.tensors[0].fan is None


def test_plan_answers_questions() -> None:
    plan = autoinit.plan(mlp(), (16, 64))
    assert plan["2.weight"].std == pytest.approx(1 / 8, rel=1e-6)
    assert plan.tensors[plan["2.weight"].layer].module == "2"
    assert plan.weight_layers[1].fan == pytest.approx(128, rel=1e-6)
    assert plan.weight_layers[1].weight == "2.weight"
    assert "3 weight layers" in plan.summary() and "6 of 6 parameters set" in plan.summary()
    with pytest.raises(autoinit.AutoInitError, match="no parameter or module of that name"):
        plan["3.weight"]


# --- rules of the user's own -------------------------------------------------


class Amplify(nn.Module):
    """Leaves PyTorch: nothing can follow it."""

    def __init__(self, gain: float) -> None:
        super().__init__()
        self.gain = gain

    def forward(self, x):
        return self.gain * x


class Special(Amplify):
    pass


def amplify(layer: Amplify, x: Signal) -> Signal:
    return x.scaled(5 * layer.gain)


def halve(x):
    """A function of the user's, imported under another name below."""
    return 0.5 * x


imported_elsewhere = halve


@pytest.fixture
def forgotten():
    yield
    for target in (Amplify, halve):
        autoinit.forget_rule(target)


def test_rule_for_a_module(forgotten) -> None:
    """The rule, not the code, is believed; subclasses inherit it."""
    autoinit.rule(Amplify)(amplify)
    for kind in (Amplify, Special):
        model = nn.Sequential(nn.Linear(64, 64), kind(2.0), nn.Linear(64, 64))
        assert autoinit.plan(model, (8, 64))["2.weight"].std == pytest.approx(1 / (8 * 10), rel=1e-6)
    autoinit.forget_rule(Amplify)
    assert autoinit.plan(model, (8, 64))["2.weight"].std == pytest.approx(1 / (8 * 2), rel=1e-6)


class UsesFunction(nn.Module):
    def __init__(self, function=None) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        return self.b(imported_elsewhere(self.a(x)))


def test_rule_for_a_function_wherever_it_was_imported_to(forgotten) -> None:
    @autoinit.rule(halve)
    def _(function, x):
        assert function is halve
        return x.scaled(3.0)

    assert autoinit.plan(UsesFunction(), (8, 64))["b.weight"].std == pytest.approx(1 / 24, rel=1e-6)
    assert imported_elsewhere is halve  # nothing stays patched
    autoinit.forget_rule(halve)
    assert autoinit.plan(UsesFunction(), (8, 64))["b.weight"].std == pytest.approx(2 / 8, rel=1e-6)


def test_second_rule_is_refused(forgotten) -> None:
    autoinit.rule(Amplify)(amplify)
    with pytest.raises(autoinit.AutoInitError, match="already"):
        autoinit.rule(Amplify)(amplify)
    with pytest.raises(autoinit.AutoInitError, match="layer class or a function"):
        autoinit.rule("amplify")


def test_rules_of_one_call(forgotten) -> None:
    model = nn.Sequential(nn.Linear(64, 64), Amplify(2.0), nn.Linear(64, 64))
    plan = autoinit.plan(model, (8, 64), rules={Amplify: lambda layer, x: x.scaled(7.0)})
    assert plan["2.weight"].std == pytest.approx(1 / (8 * 7), rel=1e-6)
    autoinit.rule(Amplify)(amplify)
    plan = autoinit.plan(model, (8, 64), rules={Amplify: lambda layer, x: x.scaled(7.0)})
    assert plan["2.weight"].std == pytest.approx(1 / (8 * 7), rel=1e-6)  # those of the call win


def test_rule_of_an_op_for_one_call() -> None:
    plan = autoinit.plan(mlp(), (16, 64), rules={"elementwise": lambda node, ctx, x: x.scaled(2.0)})
    assert plan["2.weight"].std == pytest.approx(1 / math.sqrt(4 * 128), rel=1e-6)


def test_broken_rule_names_its_layer(forgotten) -> None:
    model = nn.Sequential(nn.Linear(64, 64), Amplify(2.0), nn.Linear(64, 64))
    for wrong in (lambda layer, x: None, lambda layer, x: Signal((3,), 0.0, torch.ones(2).numpy())):
        with pytest.raises(autoinit.AutoInitError, match="1: Amplify"):
            autoinit.plan(model, (8, 64), rules={Amplify: wrong})


def test_parameters_inside_a_layer_with_a_rule_are_listed_as_unreached() -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(64, 64)

        def forward(self, x):
            return F.relu(self.inner(x))

    model = nn.Sequential(Own(), nn.Linear(64, 64))
    plan = autoinit.plan(model, (8, 64), rules={Own: lambda layer, x: x})
    assert plan.unreached() == ["0.inner.weight", "0.inner.bias"]


def test_independent_rule_set_is_the_papers_model() -> None:
    """Global average pooling of correlated places: the paper's model divides by their number."""
    model = nn.Sequential(nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 8))
    inputs = Input((16, 8, 4, 4), correlation={2: 0.9, 3: 0.9})
    ours, paper = (
        autoinit.plan(model, inputs),
        autoinit.plan(model, inputs, rules=autoinit.RuleSet({}, autoinit.independent)),
    )
    pooled = [next(t for t in p.tensors if t.module == "1") for p in (ours, paper)]
    relu = next(t for t in paper.tensors if t.module == "0")
    assert pooled[1].variance == pytest.approx(relu.variance / 16, rel=1e-6)
    assert pooled[0].variance > 5 * pooled[1].variance


def test_short_names_for_debuggers_and_notebooks() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    assert repr(autoinit.plan(model, (4, 8))) == "<Plan of Sequential: 2 weight layers, 4 of 4 parameters set>"
    assert repr(autoinit.check(model, (4, 8))).startswith("<Check of Sequential: 2 weight layers")
    assert repr(autoinit.measure(model, (4, 8))) == "<Measurement of Sequential: 3 tensors, 2 weight layers>"
