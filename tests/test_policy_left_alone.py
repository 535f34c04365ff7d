"""Which parameters keep their values: gains, tables, tokens, zeros, what is frozen, skipped, shared or unreached."""

from __future__ import annotations

from math import sqrt

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from tests.drawn_outputs import assert_second_moment, outputs  # noqa: E402


def unchanged(model: nn.Module, inputs, *names: str, **options) -> autoinit.Plan:
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    plan = autoinit.initialize(model, inputs, **options)
    for name in names:
        assert torch.equal(before[name], dict(model.named_parameters())[name]), name
        assert not plan[name].parts
    return plan


@pytest.mark.parametrize(
    ("norm", "shape"),
    [(nn.LayerNorm(32), (8, 4, 32)), (nn.BatchNorm1d(4), (8, 4, 32)), (nn.GroupNorm(2, 4), (8, 4, 32)),
     (nn.InstanceNorm1d(4, affine=True), (8, 4, 32))],
)  # fmt: skip
def test_norm_scale_and_shift_are_left_and_accounted(norm: nn.Module, shape: tuple[int, ...]) -> None:
    model = nn.Sequential(nn.Linear(32, 32), norm, nn.Linear(32, 32))
    nn.init.constant_(norm.weight, 3.0)
    plan = unchanged(model, shape, "1.weight", "1.bias")
    assert plan["1.weight"].reason == "norm scale: left as it is"
    assert plan["1.bias"].reason == "norm shift: left as it is"
    normed = next(t for t in plan.tensors if t.module == "1")
    assert normed.second == pytest.approx(9.0, rel=1e-3)
    assert plan["2.weight"].std == pytest.approx(1 / (3 * sqrt(32)), rel=1e-3)


class Extras(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.position = nn.Parameter(torch.randn(1, 10, 64) * 2)
        self.token = nn.Parameter(torch.randn(1, 1, 64))
        self.scale = nn.Parameter(torch.full((64,), 0.1))
        self.gate = nn.Parameter(torch.zeros(()))
        self.temperature = nn.Parameter(torch.tensor(3.0))
        self.never = nn.Parameter(torch.ones(3))
        self.first, self.second = nn.Linear(64, 64), nn.Linear(64, 64)

    def forward(self, x):
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        x = x + self.scale * self.first(x)
        return (x + self.gate * self.second(x)) * self.temperature


def test_gains_tables_and_tokens_are_left_and_accounted() -> None:
    model = Extras()
    names = ("position", "token", "scale", "gate", "temperature", "never")
    plan = unchanged(model, (8, 9, 64), *names)
    assert {n: plan[n].action for n in names} == dict.fromkeys(names[:-1], "kept") | {"never": "unreached"}
    assert plan.unreached() == ["never"]
    assert plan["scale"].reason.startswith("gain") and plan["gate"].reason.startswith("gain")
    # tokens: 1/10 the class token's, 9/10 the input's second moment; plus the table's; the branch adds 0.01.
    position, token = (float(p.detach().square().mean()) for p in (model.position, model.token))
    expected = 9.0 * (0.9 + 0.1 * token + position + 0.01)
    assert plan.tensors[plan.outputs[0]].second == pytest.approx(expected, rel=0.03)


def test_zero_weights_are_a_decision() -> None:
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    nn.init.zeros_(model[2].weight)
    nn.init.zeros_(model[2].bias)
    plan = unchanged(model, (8, 64), "2.weight")
    assert "zero now" in plan["2.weight"].reason and "keep_zeros" in plan["2.weight"].reason
    assert plan.tensors[plan.outputs[0]].second == 0.0
    plan = autoinit.initialize(model, (8, 64), keep_zeros=False)
    assert plan["2.weight"].std == pytest.approx(sqrt(2 / 64), rel=1e-6)
    assert model[2].weight.any()


# --- frozen, skipped -------------------------------------------------


def backbone_and_head() -> nn.Sequential:
    """A backbone whose weights are far from any initializer's, and a fresh head."""
    torch.manual_seed(5)
    backbone = nn.Sequential(nn.Conv2d(3, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU())
    with torch.no_grad():
        for p in backbone.parameters():
            p.copy_(torch.randn_like(p) * 0.3 + 0.05)
    pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(backbone, pool, nn.Linear(64, 256))


@pytest.mark.parametrize("how", ["frozen", "skip", "only"])
def test_new_head_on_a_kept_backbone(how: str) -> None:
    model = backbone_and_head()
    options = {"frozen": {}, "skip": {"skip": "0.*"}, "only": {"only": ["2.*"]}}[how]
    if how == "frozen":
        model[0].requires_grad_(False)
    names = [n for n, _ in model.named_parameters() if n.startswith("0.")]
    plan = unchanged(model, (16, 3, 16, 16), *names, **options)
    assert {plan[n].reason for n in names} == {"frozen" if how == "frozen" else "skipped by name"}
    # One backbone: its own statistics scatter around the moments that are kept of it.
    assert_second_moment(outputs(model, model[2], (16, 3, 16, 16), **options), 1.0, model_error=0.15)


def test_apply_never_writes_a_frozen_parameter() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    plan = autoinit.plan(model, (4, 8))
    model[0].requires_grad_(False)
    before = model[0].weight.detach().clone()
    plan.apply(model)
    assert torch.equal(before, model[0].weight)


# --- shared, unreached -------------------------------------------------


def test_parameter_used_twice_first_use_decides() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.map = nn.Linear(64, 64)

        def forward(self, x):
            return self.map(F.relu(self.map(x)))

    plan = autoinit.plan(Twice(), (8, 64))
    assert plan["map.weight"].std == pytest.approx(1 / 8, rel=1e-6)
    first, second = plan.weight_layers
    assert (first.target, second.target) == (1.0, None)
    assert second.second == pytest.approx(0.5, rel=1e-6)
    (note,) = [n for n in plan.notes if n.message.startswith("shared")]
    assert "map.weight" in note.message and "0.5" in note.message


def test_unreached_parameters_stay_and_are_listed() -> None:
    class Branch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x):
            return self.used(x)

    plan = unchanged(Branch(), (4, 8), "unused.weight", "unused.bias")
    assert plan.unreached() == ["unused.weight", "unused.bias"]
