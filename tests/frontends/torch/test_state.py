"""plan, check and measure leave the model bit for bit as it was."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402

from .models import Free, assert_same_state, state_of  # noqa: E402


class Caching(nn.Module):
    """Forward writes everywhere it can: counters, caches, lists, new attributes, buffers in place."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.calls = 0
        self.cache: dict[str, torch.Tensor] = {}
        self.seen: list[torch.Tensor] = []
        self.register_buffer("average", torch.zeros(8))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("table", None)

    def forward(self, x):
        self.calls += 1
        self.steps += 1
        if "mask" not in self.cache:
            self.cache["mask"] = torch.ones(8)
        self.table = torch.arange(8.0)
        y = self.layer(x) * self.cache["mask"] + self.table
        self.average.mul_(0.9).add_(0.1 * y.mean(0))
        self.average[:4] = 1.0
        self.seen.append(y)
        self.last = y
        return y


def everything() -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.Dropout(0.5),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        Caching(),
        nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8)),
        nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)),
    )
    model[3].eval()
    model[0].bias.requires_grad_(False)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    model[0].register_forward_hook(lambda module, args, output: output * 1.0)
    return model


@pytest.mark.parametrize("function", [autoinit.plan, autoinit.check, autoinit.measure])
@pytest.mark.parametrize("training", [True, False])
def test_state_is_as_before(function, training: bool) -> None:
    model = everything()
    model(torch.randn(2, 3, 6, 6))
    before = state_of(model)
    cached = {
        k: list(v) if isinstance(v, list) else dict(v) for k, v in vars(model[6]).items() if k in ("cache", "seen")
    }
    function(model, (4, 3, 6, 6), training=training)
    assert_same_state(before, state_of(model))
    assert model[6].seen == cached["seen"] and model[6].cache.keys() == cached["cache"].keys()
    assert not any(type(t).__name__ == "FakeTensor" for t in (*model[6].seen, *model[6].cache.values(), model[6].last))
    model(torch.randn(2, 3, 6, 6)).sum().backward()


def test_state_is_as_before_when_forward_fails() -> None:
    model = nn.Sequential(everything(), nn.Linear(5, 5))
    before = state_of(model)
    for function in (autoinit.plan, autoinit.check, autoinit.measure, autoinit.initialize):
        with pytest.raises(autoinit.AutoInitError):
            function(model, (4, 3, 6, 6))
    assert_same_state(before, state_of(model))


def test_initialize_writes_parameters_and_nothing_else() -> None:
    model = everything()
    before = state_of(model)
    plan = autoinit.initialize(model, (4, 3, 6, 6))
    changed = {f"tensor {p.name}" for p in plan.changed()}
    after = state_of(model)
    assert_same_state(
        {k: v for k, v in before.items() if k not in changed}, {k: v for k, v in after.items() if k not in changed}
    )
    assert any(not torch.equal(before[k][1], after[k][1]) for k in changed)
    assert all(before[k][0] == after[k][0] for k in changed)  # the parameters are the same objects


CACHE: dict[int, torch.Tensor] = {}


def test_fake_tensors_do_not_reach_global_caches() -> None:
    """A cache outside of the model keeps real tensors: constants stay real during the walk."""

    class Cached(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            if x.shape[1] not in CACHE:
                CACHE[x.shape[1]] = torch.arange(x.shape[1]).float()
            return self.layer(x * CACHE[x.shape[1]])

    autoinit.plan(Cached(), (4, 8))
    assert torch.equal(CACHE[8], torch.arange(8.0)) and type(CACHE[8]) is torch.Tensor


def test_random_state_is_not_used() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 8))
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    autoinit.initialize(model, (4, 8))
    autoinit.measure(model, (4, 8))
    assert torch.equal(torch.rand(4), expected)


def meta_model() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 10), nn.LayerNorm(10)
    )


@pytest.mark.parametrize("training", [True, False])
def test_meta_device_gives_the_plan_of_the_real_model(training: bool) -> None:
    """Norms count as 1 and 0, running statistics as 0 and 1: what the framework makes of them."""
    with torch.device("meta"):
        hollow = meta_model()
    planned = autoinit.plan(hollow, (16, 3, 8, 8), training=training)
    real = meta_model()
    expected = autoinit.plan(real, (16, 3, 8, 8), training=training)
    assert [p.std or 0.0 for p in planned.parameters] == pytest.approx(
        [p.std or 0.0 for p in expected.parameters], rel=1e-6
    )
    assert not planned.warnings  # reset_parameters tells what norms hold
    with pytest.raises(autoinit.AutoInitError, match="to_empty"):
        planned.apply(hollow)
    planned.apply(real)
    assert float(real[4].weight.detach().std()) == pytest.approx(planned["4.weight"].std, rel=0.05)


def test_training_and_evaluation_mode_differ() -> None:
    """In evaluation mode batch norm is affine with its running statistics, and dropout does nothing."""
    model = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(32), nn.Linear(32, 32))
    model[1].running_var.fill_(4.0)
    x = (64, 32)
    assert autoinit.plan(model, x)["2.weight"].std == pytest.approx(32**-0.5, rel=1e-3)
    assert autoinit.plan(model, x, training=False)["2.weight"].std == pytest.approx(2 * 32**-0.5, rel=1e-3)
    model.eval()
    assert autoinit.plan(model, x)["2.weight"].std == pytest.approx(32**-0.5, rel=1e-3)
    assert not model.training


def test_hooks_of_the_user_take_part() -> None:
    model = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32))
    model[0].register_forward_hook(lambda module, args, output: 3.0 * output)
    assert autoinit.plan(model, (8, 32))["1.weight"].std == pytest.approx(32**-0.5 / 3, rel=1e-6)


def test_parameter_data_and_detached_aliases_are_seen() -> None:
    model = Free(
        lambda self, x: F.linear(x, self.weight.data) + F.linear(x, self.weight.detach()),
        weight=nn.Parameter(torch.randn(32, 32)),
    )
    plan = autoinit.plan(model, (8, 32))
    assert plan["weight"].std == pytest.approx(32**-0.5, rel=1e-6)


def test_very_large_parameters_are_measured_on_a_part_of_their_rows(monkeypatch) -> None:
    """Nobody copies an embedding table of gigabytes to learn its variance."""
    from autoinit.frontends.torch import walk

    model = nn.Sequential(nn.Linear(64, 4096, bias=False), nn.ReLU(), nn.Linear(4096, 64)).requires_grad_(False)
    whole = autoinit.check(model, (8, 64))
    monkeypatch.setattr(walk, "LARGEST_READ", 2**14)
    reader = walk.describe_parameters(model, dict(model.named_parameters()), {})["0.weight"].read
    assert reader(None).shape == (256, 64)  # every sixteenth row
    part = autoinit.check(model, (8, 64))
    # 2^14 of 2^18 values: the mean square of a uniform has a relative standard error of sqrt(0.8 / n)
    assert part.tensors[0].second == pytest.approx(whole.tensors[0].second, rel=5 * (0.8 / 2**14) ** 0.5)
    assert part.tensors[0].second != whole.tensors[0].second
