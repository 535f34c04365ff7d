"""Calibration: one forward of noise puts this draw on its targets, and touches nothing of the user's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.plan.calibration import TOLERANCE, goals  # noqa: E402
from autoinit.errors import AutoInitError, ModelError, PlanError  # noqa: E402
from autoinit.frontends.torch import calibrating  # noqa: E402
from autoinit.measurement import key_of  # noqa: E402

IMAGES = (32, 3, 12, 12)


def plain(depth: int = 10, act: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(3, 24, 3, padding=1)]
    for _ in range(depth):
        layers += [act(), nn.Conv2d(24, 24, 3, padding=1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))


def measured(model: nn.Module, plan: autoinit.Plan, inputs: Any, seed: int) -> Iterator[tuple[float, float]]:
    """x.var() of every layer with a goal, in a run on noise of this seed, and its goal."""
    found = {key_of(row.predicted): row.variance for row in autoinit.measure(model, inputs, seed=seed, warn=False).rows}
    for key, goal in goals(plan).items():
        yield found[key], goal.variance


def assert_on_target(model: nn.Module, inputs: Any, within: float = 1.25, **options: Any) -> autoinit.Plan:
    """Calibrated, every layer is near its goal on fresh noise; options are those of `plan`."""
    plan = autoinit.initialize(model, inputs, calibrate=True, warn=False, **options)
    rows = list(measured(model, plan, inputs, seed=77))
    assert rows
    assert all(1 / within < variance / goal < within for variance, goal in rows), rows
    return plan


@pytest.mark.parametrize("distribution", ["truncated_normal", "orthogonal", "uniform"])
def test_a_draw_that_is_off_is_put_on_target(distribution: Any) -> None:
    model = plain()
    off = autoinit.initialize(model, IMAGES, distribution=distribution)
    ratios = [variance / goal for variance, goal in measured(model, off, IMAGES, seed=77)]
    assert min(ratios) < 0.8 or max(ratios) > 1.25
    assert_on_target(model, IMAGES, 1.15, distribution=distribution)


def test_on_the_noise_of_the_calibration_itself_layers_are_exact() -> None:
    model = plain()
    plan = autoinit.initialize(model, IMAGES, calibrate=True)
    for variance, goal in measured(model, plan, IMAGES, seed=plan.seed):  # the run of that seed
        assert variance == pytest.approx(goal, rel=2 * TOLERANCE)


def test_looking_changes_nothing_and_applying_needs_no_run() -> None:
    model = plain()
    values, random = [p.clone() for p in model.parameters()], torch.get_rng_state()
    versions = [p._version for p in model.parameters()]
    plan = autoinit.plan(model, IMAGES, calibrate=True)
    assert all(torch.equal(p, before) for p, before in zip(model.parameters(), values, strict=True))
    assert [p._version for p in model.parameters()] == versions
    assert torch.equal(torch.get_rng_state(), random)
    model.forward = None  # type: ignore[assignment]
    plan.apply(model)
    assert model[0].weight.std().item() == pytest.approx(plan["0.weight"].std, rel=0.1)


def test_a_saved_plan_gives_the_same_weights(tmp_path: Any) -> None:
    model, other = plain(), plain()
    plan = autoinit.plan(model, IMAGES, calibrate=True, seed=3)
    plan.save(tmp_path / "plan.json")
    loaded = autoinit.Plan.load(tmp_path / "plan.json")
    assert loaded.calibrated and loaded.seed == 3
    plan.apply(model), loaded.apply(other)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))


def test_another_seed_needs_its_own_calibration() -> None:
    model = plain()
    plan = autoinit.plan(model, IMAGES, calibrate=True)
    with pytest.raises(PlanError, match="calibrated for the draw of another seed"):
        plan.apply(model, seed=1)
    again = plan.calibrate(model, IMAGES, seed=1)
    again.apply(model)
    assert all(1 / 1.2 < v / goal < 1.2 for v, goal in measured(model, again, IMAGES, seed=50))
    assert autoinit.plan(model, IMAGES, calibrate=True, seed=1).to_dict() == again.to_dict()


def test_an_interrupt_in_the_run_leaves_the_model_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    model = plain()
    before = [p.clone() for p in model.parameters()]

    class Interrupting(calibrating.Scaler):
        def __call__(self, *args: Any) -> None:
            super().__call__(*args)
            if len(self.variances) == 4:
                raise KeyboardInterrupt

    monkeypatch.setattr(calibrating, "Scaler", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        autoinit.initialize(model, IMAGES, calibrate=True)
    assert all(torch.equal(p, value) for p, value in zip(model.parameters(), before, strict=True))


def test_one_forward_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    record = calibrating.record
    monkeypatch.setattr(calibrating, "record", lambda *a, **k: (runs.append(1), record(*a, **k))[1])
    autoinit.plan(plain(), IMAGES, calibrate=True)
    assert len(runs) == 1


class Repeated(nn.Module):
    """One layer, five times."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.head = nn.Linear(64, 64), nn.Linear(64, 16)

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(5):
            x = torch.tanh(self.layer(x))
        return self.head(x)


def test_the_first_use_of_a_shared_weight_decides() -> None:
    plan = assert_on_target(Repeated(), (64, 64), 1.1)
    assert len(goals(plan)) == 2
    assert plan["layer.weight"].parts[0].layer == plan.weight_layers[0].index


class Residual(nn.Module):
    """A trunk without norms."""

    def __init__(self, blocks: int = 6) -> None:
        super().__init__()
        self.stem, self.head = nn.Linear(64, 96), nn.Linear(96, 16)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 96)) for _ in range(blocks)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


def test_branches_get_their_share_and_not_one() -> None:
    plan = assert_on_target(Residual(), (128, 64), recipe="train")
    wanted = [goal.variance for goal in goals(plan).values()]
    assert min(wanted) < 0.2 and max(wanted) == pytest.approx(1.0, rel=0.05)


class Crossed(nn.Module):
    """Packed weights, of which a part is used here and a part there."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.head = nn.MultiheadAttention(32, 4, batch_first=True), nn.Linear(32, 24)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        out: Tensor = self.head(self.attention(x, y, y)[0])
        return out


def test_parts_of_packed_weights_have_factors_of_their_own() -> None:
    plan = assert_on_target(Crossed(), ((8, 10, 32), (8, 12, 32)))
    factors = [part.factor for part in plan["attention.in_proj_weight"].parts]
    assert len(set(factors)) == len(factors) == 2


@pytest.mark.parametrize("center", ["bias", "activation"])
def test_centring_follows(center: Any) -> None:
    model = nn.Sequential(nn.Linear(32, 96), nn.Softplus(), nn.Linear(96, 96), nn.Softplus(), nn.Linear(96, 32))
    plan = assert_on_target(model, (256, 32), 1.15, center=center)
    if center == "bias":
        part = next(p for p in plan["2.bias"].parts if p.kind == "centre")
        rows = -part.value * model[2].weight.detach().double().sum(1)
        assert torch.allclose(model[2].bias.detach().double(), rows, atol=1e-5)


def test_grouped_transposed_and_other_layouts() -> None:
    model = nn.Sequential(nn.Conv2d(8, 32, 3, groups=4), nn.ReLU(), nn.ConvTranspose2d(32, 32, 3, groups=2), nn.ReLU(),
                          nn.Conv2d(32, 32, 3)).to(memory_format=torch.channels_last)  # fmt: skip
    assert_on_target(model, (16, 8, 12, 12))
    turned = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 32))
    turned[0].weight = nn.Parameter(torch.randn(24, 48).t())
    assert_on_target(turned, (256, 24))


def test_weights_that_are_made_of_parameters() -> None:
    norm = torch.nn.utils.parametrizations.weight_norm
    model = nn.Sequential(norm(nn.Linear(32, 64)), nn.ReLU(), norm(nn.Linear(64, 64)), nn.ReLU(), nn.Linear(64, 32))
    plan = assert_on_target(model, (256, 32))
    assert "0.parametrizations.weight.original0" in {p.name for p in plan.parameters if p.action == "gain"}


class Product(nn.Module):
    """Two factors share the gain."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(48, 6)), nn.Parameter(torch.randn(6, 48))
        self.head = nn.Linear(48, 24)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.head(torch.relu(x @ (self.a @ self.b)))
        return out


def test_factors_of_a_product_are_scaled_alike() -> None:
    plan = assert_on_target(Product(), (256, 48))
    assert plan["a"].parts[0].factor == plan["b"].parts[0].factor != 1.0


def test_frozen_skipped_and_zero_weights_stay_and_biases_that_are_kept_count() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                          nn.Linear(64, 16), nn.Linear(16, 16))  # fmt: skip
    model[2].weight.requires_grad_(False)
    nn.init.zeros_(model[7].weight), nn.init.constant_(model[0].bias, 0.5)
    kept = [model[2].weight.clone(), model[0].bias.clone(), model[4].weight.clone()]
    plan = assert_on_target(model, (256, 32), 1.15, skip=["0.bias", "4.weight"])
    assert {name for goal in goals(plan).values() for name in goal.names} == {"0.weight", "6.weight"}
    assert [torch.equal(a, b) for a, b in zip(kept, (model[2].weight, model[0].bias, model[4].weight), strict=True)]
    assert not model[7].weight.any()


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer, self.head = nn.Embedding(40, 32), nn.Linear(32, 32), nn.Linear(32, 40, bias=False)
        self.head.weight = self.table.weight

    def forward(self, ids: Tensor) -> Tensor:
        x = self.table(ids)
        out: Tensor = self.head(x + self.layer(torch.relu(x)))
        return out


def test_a_table_that_was_read_before_it_is_decided_keeps_its_scale() -> None:
    plan = assert_on_target(Tied(), autoinit.Input((32, 12), vocabulary=40))
    assert plan["table.weight"].parts[0].factor == 1.0
    assert plan["layer.weight"].parts[0].factor != 1.0


def test_of_a_batch_only_the_moments_count() -> None:
    """Two batches with the same moments, which are other numbers, give the same plan."""
    generator = torch.Generator().manual_seed(0)
    one = torch.randn(64, 3, 12, 12, generator=generator)
    other = one.flip(0)
    plans = [autoinit.plan(plain(3), batch, calibrate=True) for batch in (one, other)]
    factors = [[part.factor for p in plan.parameters for part in p.parts] for plan in plans]
    assert factors[0] == pytest.approx(factors[1], rel=1e-6)
    assert any(f != 1.0 for f in factors[0])


def test_an_output_that_is_nearly_one_number_keeps_the_scale_of_the_mean() -> None:
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    plan = autoinit.plan(model, autoinit.Input((64, 8), mean=3.0, variance=0.01), calibrate=True)
    assert "4.weight" not in {name for goal in goals(plan).values() for name in goal.names}
    assert plan["4.weight"].parts[0].factor == 1.0


class Nothing(nn.Module):
    """Gives zeros, whatever its rule says."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 0.0


def test_a_weight_whose_output_is_constant_is_named() -> None:
    model = nn.Sequential(nn.Linear(8, 16), Nothing(), nn.Linear(16, 4))
    plan = autoinit.plan(model, (16, 8), calibrate=True, warn=False, rules={Nothing: lambda layer, x: x})
    assert [n.place for n in plan.warnings if "not calibrated" in n.message] == ["2.weight"]
    assert plan["2.weight"].parts[0].factor == 1.0


def test_where_there_is_no_memory_it_is_refused() -> None:
    with pytest.raises(ModelError, match="nothing to run without memory"):
        autoinit.plan(nn.Sequential(nn.Linear(4, 4, device="meta")), (8, 4), calibrate=True)


def test_what_checks_and_old_plans_have_cannot_be_calibrated() -> None:
    model = plain(1)
    with pytest.raises(PlanError, match="no weight in this plan"):
        autoinit.check(model, IMAGES, calibrate=True).calibrate(model, IMAGES)
    data = autoinit.plan(model, IMAGES).to_dict()
    for parameter in data["parameters"]:
        for part in parameter["parts"]:
            del part["layer"], part["factor"]
    del data["calibrated"], data["slopes"]
    old = autoinit.Plan.from_dict(data)
    old.apply(model)
    with pytest.raises(AutoInitError, match="with this version"):
        old.calibrate(model, IMAGES)


def test_the_table_says_when_it_is_worthwhile() -> None:
    model = plain(20)
    plan = autoinit.plan(model, IMAGES)
    assert "calibrate=True" in str(plan)
    assert "calibrated: the draw of seed 0 is on target" in str(plan.calibrate(model, IMAGES))
    shallow = autoinit.plan(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)), (256, 256))
    assert "calibrate" not in str(shallow)
