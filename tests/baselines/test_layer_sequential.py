"""LSUV: after it every weight layer's output has the target variance on the batch it was made with."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import baselines  # noqa: E402
from autoinit.errors import OptionError, PlanError  # noqa: E402


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                    nn.Conv2d(width, width, 3, padding=1))  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        return x + self.branch(x)


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), Residual(24), nn.Dropout(0.2), Residual(24),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))  # fmt: skip


def batch() -> Tensor:
    return torch.randn(16, 3, 12, 12, generator=torch.Generator().manual_seed(1)) * 3 + 1


def layer_variances(model: nn.Module, x: Tensor) -> list[float]:
    found: list[float] = []
    hooks = [
        m.register_forward_hook(lambda m, i, o: found.append(o.var().item()))
        for m in model.modules()
        if isinstance(m, nn.Conv2d | nn.Linear)
    ]
    torch.manual_seed(0)
    with torch.no_grad():
        model(x)
    for hook in hooks:
        hook.remove()
    return found


@pytest.mark.parametrize("pre", ["orthogonal", "he_normal", "default", None])
@pytest.mark.parametrize("target", [1.0, 0.25])
def test_output_variances_are_on_target(pre: str | None, target: float) -> None:
    model, x = net(), batch()
    state = {k: v.clone() for k, v in model.named_buffers()}
    reported = baselines.lsuv(model, x, pre=pre, target=target, tolerance=0.02, training=False)
    measured = layer_variances(model.eval(), x)
    assert len(measured) == len(reported) == 6
    assert measured == pytest.approx([target] * 6, rel=0.03)
    assert list(reported.values()) == pytest.approx(measured, rel=0.01)
    assert all(torch.equal(v, state[k]) for k, v in model.named_buffers())


def test_with_dropout_in_training_mode_the_same_noise_gives_the_target() -> None:
    model, x = net(), batch()
    baselines.lsuv(model, x, tolerance=0.02, seed=0)
    assert model.training
    assert layer_variances(model.train(), x) == pytest.approx([1.0] * 6, rel=0.03)


def test_reproducible() -> None:
    one, two, other = net(), net(), net()
    before = torch.get_rng_state()
    baselines.lsuv(one, batch(), seed=4)
    assert torch.equal(before, torch.get_rng_state())
    baselines.lsuv(two, batch(), seed=4)
    baselines.lsuv(other, batch(), seed=5)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(one[0].weight, other[0].weight)


def test_frozen_untouched_and_the_rest_still_on_target() -> None:
    model, x = net(), batch()
    frozen = model[1].branch[1]
    frozen.requires_grad_(False)
    weight, bias = frozen.weight.clone(), frozen.bias.clone()
    baselines.lsuv(model, x, tolerance=0.02, training=False)
    assert torch.equal(frozen.weight, weight)
    assert torch.equal(frozen.bias, bias)
    measured = layer_variances(model.eval(), x)
    assert abs(measured[1] - 1) > 0.1
    assert measured[:1] + measured[2:] == pytest.approx([1.0] * 5, rel=0.03)


def test_samples_takes_the_first_of_the_batch() -> None:
    x = batch()
    model, part = net(), net()
    baselines.lsuv(model, x, samples=2, seed=0)
    baselines.lsuv(part, x[:2], seed=0)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), part.parameters(), strict=True))


def test_attention_views_and_shared_weights() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(50, 32)
            self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
            self.head = nn.Linear(32, 50, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens: Tensor) -> Tensor:
            x = self.embedding(tokens)
            return self.head(x + self.attention(x, x, x, need_weights=False)[0])

    torch.manual_seed(0)
    model = Tied()
    tokens = torch.randint(50, (8, 20), generator=torch.Generator().manual_seed(0))
    found = baselines.lsuv(model, tokens, tolerance=0.01)
    assert model.embedding(tokens).var().item() == pytest.approx(1.0, rel=0.02)
    assert set(found) == {"embedding.weight", "attention.in_proj_weight", "attention.out_proj.weight"}


class Bottleneck(nn.Module):
    def __init__(self, width: int, out: int, stride: int) -> None:
        super().__init__()
        self.one, self.two = nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.shortcut = nn.Conv2d(width, out, 1, stride, bias=False)
        self.norm = nn.BatchNorm2d(out)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.two(torch.relu(self.norm(self.one(x)))) + self.shortcut(x))


def resnet() -> tuple[nn.Module, Tensor]:
    stages = [Bottleneck(16, 16, 1), Bottleneck(16, 24, 2), Bottleneck(24, 32, 2)]
    return nn.Sequential(
        nn.Conv2d(3, 16, 3), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)
    ), batch()


def transformer() -> tuple[nn.Module, Tensor]:
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), batch().reshape(16, 12, 36)[..., :32]


class Named(nn.Module):
    """Keyword inputs, one of them no tensor, and a layer that is called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.enter, self.again = nn.Embedding(20, 16), nn.Linear(8, 16), nn.Linear(16, 16)
        self.mix = nn.Parameter(torch.randn(2, 16, 5))

    def forward(self, x: Tensor, ids: Tensor, scale: float = 1.0) -> Tensor:
        h = torch.relu(self.enter(x) + self.table(ids)) * scale
        return torch.einsum("bi,hio->bho", self.again(torch.relu(self.again(h))), self.mix)


def named() -> tuple[nn.Module, dict]:
    g = torch.Generator().manual_seed(2)
    return Named(), {"x": torch.randn(32, 8, generator=g), "ids": torch.randint(20, (32,), generator=g), "scale": 2.0}


@pytest.mark.parametrize(("make", "weights"), [(resnet, 11), (transformer, 8), (named, 4)])
def test_any_model_through_the_same_tracing(make: Callable[[], tuple[nn.Module, Any]], weights: int) -> None:
    torch.manual_seed(0)
    model, inputs = make()
    found = baselines.lsuv(model, inputs, tolerance=0.01, training=False)
    assert len(found) == weights
    assert list(found.values()) == pytest.approx([1.0] * weights, rel=0.01)
    first: dict[str, float] = {}
    for row in autoinit.measure(model, inputs, training=False).weight_layers:
        first.setdefault(str(row.predicted.weight), row.variance)  # a shared weight is scaled for its first call
    assert [first[name] for name in found] == pytest.approx([1.0] * weights, rel=0.02)


def test_samples_of_keyword_inputs() -> None:
    one, inputs = named()
    two = Named()
    baselines.lsuv(one, inputs, samples=4)
    baselines.lsuv(two, {k: v if k == "scale" else v[:4] for k, v in inputs.items()})
    assert torch.equal(one.mix, two.mix) and torch.equal(one.again.weight, two.again.weight)


def test_weights_that_are_zero_now_are_pre_initialized_too() -> None:
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    nn.init.zeros_(model[2].weight)
    found = baselines.lsuv(model, torch.randn(64, 8, generator=torch.Generator().manual_seed(0)))
    assert set(found) == {"0.weight", "2.weight"}


def test_weight_norm_settles_in_a_few_passes() -> None:
    torch.manual_seed(0)
    normed = nn.utils.parametrizations.weight_norm(nn.Linear(40, 60))
    model = nn.Sequential(normed, nn.ReLU(), nn.Linear(60, 5))
    x = batch().reshape(16, -1)[:, :40]
    baselines.lsuv(model, x, tolerance=0.02)
    assert model[0](x).var().item() == pytest.approx(1.0, rel=0.03)


def test_noise_described_by_an_input() -> None:
    model = net()
    found = baselines.lsuv(model, autoinit.Input((32, 3, 12, 12)), samples=8, tolerance=0.05)
    assert list(found.values()) == pytest.approx([1.0] * 6, rel=0.05)


def test_constant_signal_warns_and_leaves_the_weight() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    with pytest.warns(UserWarning, match="could not scale"):
        baselines.lsuv(model, torch.zeros(5, 4))
    assert all(p.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize(
    "bad", [{"pre": "he"}, {"samples": 0}, {"target": 0.0}, {"tolerance": -1.0}, {"iterations": 0}]
)
def test_bad_options(bad: dict) -> None:
    with pytest.raises(OptionError):
        baselines.lsuv(net(), batch(), **bad)


@pytest.mark.parametrize("pre", ["orthogonal", None])
def test_a_plan_that_is_at_hand_saves_tracing(pre: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from autoinit.baselines import layer_sequential_torch

    first, second = net(), net()
    plan = autoinit.plan(first, (1, 3, 12, 12))
    expected = baselines.lsuv(first, batch(), pre=pre)
    monkeypatch.delattr(layer_sequential_torch, "analyse")
    assert baselines.lsuv(second, batch(), pre=pre, plan=plan) == expected
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))


def test_a_plan_of_another_model_is_refused() -> None:
    model, other = net(), nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    before = [p.clone() for p in model.parameters()]
    for pre in ("orthogonal", None):
        with pytest.raises(PlanError, match="made for another model"):
            baselines.lsuv(model, batch(), pre=pre, plan=autoinit.plan(other, (2, 4)))
    with pytest.raises(OptionError, match=r"'plan' takes a plan"):
        baselines.lsuv(model, batch(), plan="plan.json")  # type: ignore[arg-type]
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


def test_importing_the_baselines_imports_no_framework() -> None:
    code = "import sys, autoinit, autoinit.baselines; sys.exit('torch' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(Path(autoinit.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
