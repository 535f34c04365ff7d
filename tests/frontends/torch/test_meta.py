"""Models that are built without memory: their plans are those of real ones, and applying fills everything."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

import autoinit
from autoinit.frontends.torch.remembering.built import stories_of


class Norms(nn.Module):
    """What constructors write by fills, and forward needs."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)
        self.norm, self.batch = nn.LayerNorm(16), nn.BatchNorm1d(64)
        self.scale = nn.Parameter(torch.full((16,), 0.3))
        self.gain = nn.Parameter(torch.ones(16) * 0.5)
        self.last = nn.Linear(16, 16)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.scale * self.down(self.batch(self.up(self.norm(x))).relu())
        out: torch.Tensor = x + self.last(self.gain * x)
        return out


class Buffers(nn.Module):
    """What constructors compute: tables, masks, frequencies, given numbers, statistics of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_buffer("freq", 1.0 / (10000 ** (torch.arange(0, 8, 2).float() / 8)))
        table, at = torch.zeros(10, 8), torch.arange(10).unsqueeze(1).float()
        table[:, 0::2] = torch.sin(at * self.freq)
        table[:, 1::2] = torch.cos(at * self.freq)
        self.register_buffer("table", table)
        self.register_buffer("given", torch.tensor([1.5, 2.5, -3.0]))
        self.register_buffer("mask", torch.triu(torch.full((10, 10), float("-inf")), 1), persistent=False)
        self.register_buffer("steps", torch.tensor(3, dtype=torch.int64))
        self.register_buffer("both", torch.cat([torch.eye(3), torch.ones(1, 3)]).half())
        self.rates = [r.item() for r in torch.linspace(0, 0.2, 3)]
        self.more = torch.linspace(0, 0.2, 3).tolist()
        self.first = int(torch.arange(5, 7)[0])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.fc(x) + self.table
        out: torch.Tensor = (x @ x.mT + self.mask).softmax(-1) @ x
        return out


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.head = nn.Embedding(30, 12), nn.Linear(12, 30, bias=False)
        self.body = nn.LSTM(12, 12, batch_first=True)
        self.head.weight = self.table.weight

    def forward(self, i: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.body(self.table(i))[0])
        return out


MODELS = {
    "norms": (Norms, (32, 16)),
    "buffers": (Buffers, (4, 10, 8)),
    "tied": (Tied, autoinit.Input((4, 6), vocabulary=30)),
}


def built(build) -> nn.Module:
    with autoinit.meta():
        model = build()
    return model


def spoiled(model: nn.Module) -> nn.Module:
    """Memory as bad as `to_empty` may find it."""
    model.to_empty(device="cpu")
    for t in (*model.parameters(), *model.buffers()):
        t.data.fill_(float("nan") if t.is_floating_point() else 77)
    return model


def tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    named = (*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False))
    return {name: t.detach() for name, t in named}


@pytest.mark.parametrize("name", MODELS)
def test_the_plan_and_the_weights_of_the_real_model(name: str) -> None:
    build, inputs = MODELS[name]
    real, bare = build(), built(build)
    assert all(t.device.type == "meta" for t in tensors(bare).values())
    expected, plan = autoinit.plan(real, inputs), autoinit.plan(bare, inputs)
    for a, b in zip(expected.parameters, plan.parameters, strict=True):
        assert (a.name, a.action, a.std, a.aliases) == (b.name, b.action, b.std, b.aliases)
    assert [str(n) for n in plan.warnings] == [str(n) for n in expected.warnings]
    expected.apply(real)
    plan.apply(spoiled(bare))
    for name, t in tensors(real).items():
        assert torch.equal(t, tensors(bare)[name]), name
        assert t.dtype == tensors(bare)[name].dtype


def test_values_that_constructors_ask_for() -> None:
    real, bare = Buffers(), built(Buffers)
    assert (real.rates, real.more, real.first) == (bare.rates, bare.more, bare.first)


NUMBERS = [3, 2, 1, 0]
GIVEN = {
    "tensor": lambda b: torch.tensor(NUMBERS, device=b.device),
    "tensor, by name": lambda b: torch.tensor(data=NUMBERS, device=str(b.device)),
    "as_tensor": lambda b: torch.as_tensor(NUMBERS, device=b.device),
    "asarray": lambda b: torch.asarray(NUMBERS, device=b.device),
    "new_tensor": lambda b: b.new_tensor(NUMBERS),
    "array": lambda b: torch.tensor(np.array(NUMBERS), device=b.device),
    "numbers": lambda b: torch.stack([torch.tensor(k, device=b.device) for k in NUMBERS]),
}


class Turned(nn.Module):
    """An index that is copied into a buffer, as a method that can be called again does it."""

    def __init__(self, give: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.fc, self.give = nn.Linear(4, 4), give
        self.register_buffer("index", torch.empty(4, dtype=torch.int64), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        self.index.copy_(self.give(self.index))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.fc(x)[..., self.index]
        return out


@pytest.mark.parametrize("give", GIVEN.values(), ids=GIVEN)
def test_numbers_that_are_given_for_the_meta_device(give: Callable[[torch.Tensor], torch.Tensor]) -> None:
    bare = built(lambda: Turned(give))
    with torch.device("meta"):
        otherwise = Turned(give)
    for model in (bare, otherwise):
        plan = autoinit.plan(model, (8, 4))
        assert plan.ok and plan["fc"].std == autoinit.plan(Turned(give), (8, 4))["fc"].std
    plan.apply(spoiled(bare))
    assert bare.index.tolist() == NUMBERS


def test_numbers_that_came_another_way_are_unknown() -> None:
    model = built(lambda: Turned(lambda b: b.new(NUMBERS)))
    assert "index" not in stories_of(model)
    assert autoinit.plan(model, (8, 4))["fc"].std > 0


class Random(nn.Module):
    """What is drawn and kept: a table that nobody sets, a frozen one, random features, a layer that is not used."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.frozen = nn.Linear(16, 16).requires_grad_(False)
        self.register_buffer("features", torch.randn(16, 400) * 0.5 + 1.0)
        self.cut, self.turned, self.same = (nn.Parameter(torch.empty(n)) for n in ((60, 50), (20, 30), (6, 6, 3)))
        nn.init.trunc_normal_(self.cut, std=0.02)
        nn.init.orthogonal_(self.turned, gain=2.0)
        nn.init.dirac_(self.same)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.frozen(self.fc(x)) @ self.features
        return out


def test_random_values_that_are_kept() -> None:
    models = [spoiled(built(Random)) for _ in range(3)]
    plan = autoinit.plan(built(Random), (8, 16))
    assert set(plan.fills) == set(tensors(models[0])) - {"fc.weight", "fc.bias"}
    for model, seed in zip(models, (0, 0, 1), strict=True):
        plan.apply(model, seed=seed, warn=False)
    a, b, c = (tensors(m) for m in models)
    assert all(torch.equal(a[n], b[n]) for n in a)
    assert not torch.equal(a["features"], c["features"]) and torch.equal(a["same"], c["same"])
    assert float(a["features"].std()) == pytest.approx(0.5, rel=0.05)
    assert float(a["features"].mean()) == pytest.approx(1.0, abs=0.05)
    assert float(a["cut"].std()) == pytest.approx(0.02, rel=0.1)
    assert torch.allclose(a["turned"] @ a["turned"].mT, 4 * torch.eye(20), atol=1e-5)
    assert torch.equal(a["same"], nn.init.dirac_(torch.empty(6, 6, 3)))
    assert float(a["frozen.weight"].std()) == pytest.approx(1 / 48**0.5, rel=0.1)


def test_what_is_skipped_is_left_alone() -> None:
    plan = autoinit.plan(built(Norms), (32, 16), only=["up.*", "norm.*"])
    model = spoiled(built(Norms))
    plan.apply(model)
    found = {name for name, t in tensors(model).items() if torch.isfinite(t.float()).all() and not (t == 77).all()}
    assert found == {"up.weight", "up.bias", "norm.weight", "norm.bias"}


def test_a_model_that_was_built_on_the_meta_device_otherwise() -> None:
    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.norm, self.batch = nn.Linear(8, 8), nn.LayerNorm(8), nn.BatchNorm1d(8)
            self.attention = nn.MultiheadAttention(8, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.batch(self.norm(self.fc(x)))
            out: torch.Tensor = self.attention(x, x, x)[0]
            return out

    with torch.device("meta"):
        bare = Plain()
    real = Plain()
    expected, plan = autoinit.plan(real, (16, 8)), autoinit.plan(bare, (16, 8))
    assert [(p.action, p.std) for p in plan.parameters] == [(p.action, p.std) for p in expected.parameters]
    expected.apply(real)
    plan.apply(spoiled(bare))
    assert all(torch.equal(t, tensors(bare)[name]) for name, t in tensors(real).items())


def test_what_nobody_knows_is_named_before_anything_is_written() -> None:
    with torch.device("meta"):
        bare = Norms()
    plan = autoinit.plan(bare, (32, 16), warn=False)
    spoiled(bare)
    with pytest.raises(autoinit.AutoInitError, match="nobody knows") as error:
        plan.apply(bare)
    assert error.value.received == "scale, gain" and "autoinit.meta" in error.value.fix
    assert all(torch.isnan(t).all() for t in bare.parameters())
    known = autoinit.plan(built(Norms), (32, 16), skip=["scale", "gain"])
    known.apply(bare)
    assert torch.isnan(bare.scale).all() and torch.equal(bare.norm.weight, torch.ones(16))


def test_memory_first() -> None:
    model = built(Norms)
    plan = autoinit.plan(model, (32, 16))
    with pytest.raises(autoinit.AutoInitError, match="no memory to write to") as error:
        plan.apply(model)
    assert "to_empty" in error.value.fix


def test_an_error_while_filling_brings_everything_back(monkeypatch) -> None:
    model = built(Norms)
    plan = autoinit.plan(model, (32, 16))
    model.to_empty(device="cpu")
    for t in (*model.parameters(), *model.buffers()):
        t.data.fill_(5)

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("autoinit.frontends.torch.apply.fill", fails)
        plan.apply(model)
    assert all((t == 5).all() for t in (*model.parameters(), *model.buffers()))


def test_plans_keep_what_is_to_be_filled(tmp_path) -> None:
    plan = autoinit.plan(built(Norms), (32, 16))
    plan.save(tmp_path / "plan.json")
    loaded = autoinit.Plan.load(tmp_path / "plan.json")
    assert loaded.fills == plan.fills and "batch.running_var" in loaded.fills
    a, b = spoiled(built(Norms)), spoiled(built(Norms))
    plan.apply(a)
    loaded.apply(b)
    assert all(torch.equal(t, tensors(b)[n]) for n, t in tensors(a).items())


def test_other_threads_and_the_generators_are_left_alone() -> None:
    torch.manual_seed(3)
    before, made = torch.get_rng_state(), []
    with autoinit.meta():
        worker = threading.Thread(target=lambda: made.append(nn.Linear(4, 4)))
        worker.start()
        worker.join()
        first = nn.Linear(4, 4)
    assert made[0].weight.device.type == "cpu" and not stories_of(nn.Sequential(made[0]))["0.weight"].is_zero()
    assert first.weight.device.type == "meta"
    torch.manual_seed(3)
    expected = nn.Linear(4, 4)
    assert torch.equal(made[0].weight, expected.weight)
    torch.set_rng_state(before)
    with autoinit.meta():
        built(Random)
    assert torch.equal(torch.get_rng_state(), before)


def test_sixteen_billion_weights_take_no_memory() -> None:
    class Large(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.act, self.down = nn.Linear(65536, 131072), nn.GELU(), nn.Linear(131072, 65536)
            self.norm = nn.LayerNorm(65536)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = x + self.down(self.act(self.up(self.norm(x))))
            return out

    plan = autoinit.plan(built(Large), (4, 65536))
    assert plan["up.weight"].std == pytest.approx(65536**-0.5, rel=1e-4)
    assert plan.fills == ["norm.weight", "norm.bias"] and not plan.warnings
