"""Which parameters are set, and how: weights, biases, tables and recurrent kernels of real PyTorch models."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from tests.drawn_outputs import assert_second_moment, outputs  # noqa: E402

# --- contraction weights -------------------------------------------------


def test_weight_of_a_contraction_is_solved_for_the_second_moment() -> None:
    """relu of N(0, 1) has E[x^2] = 1/2, so the second layer of width 128 needs sigma^2 = 1 / (128 / 2)."""
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 96))
    plan = autoinit.plan(model, (32, 64))
    assert plan["0.weight"].std == pytest.approx(1 / sqrt(64), rel=1e-6)
    assert plan["2.weight"].std == pytest.approx(sqrt(2 / 128), rel=1e-6)
    assert_second_moment(outputs(model, model[2], (32, 64)), 1.0)
    assert_second_moment(outputs(model, model[2], (32, 64), variance=4.0), 4.0)


class CrossAttention(nn.Module):
    def __init__(self, **sizes: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True, **sizes)

    def forward(self, q, k, v):
        return self.attention(q, k, v)[0]


def test_separate_projections_have_their_own_fans() -> None:
    plan = autoinit.plan(CrossAttention(kdim=32, vdim=48), [(8, 10, 64), (8, 12, 32), (8, 12, 48)])
    for letter, fan in (("q", 64), ("k", 32), ("v", 48)):
        assert plan[f"attention.{letter}_proj_weight"].std == pytest.approx(1 / sqrt(fan), rel=1e-6)


def test_packed_projection_is_set_part_by_part() -> None:
    """Keys and values of variance 4 and 9 meet slices of one packed matrix: each slice gets its own scale."""
    model = CrossAttention()
    shape = (8, 12, 64)
    inputs = [(8, 10, 64), autoinit.Input(shape, variance=4.0), autoinit.Input(shape, variance=9.0)]
    plan = autoinit.plan(model, inputs)
    packed = plan["attention.in_proj_weight"]
    assert [part.shape for part in packed.parts] == [[64, 64]] * 3
    assert [part.std for part in packed.parts] == pytest.approx([1 / 8, 1 / 16, 1 / 24], rel=1e-6)
    plan.apply(model, seed=3)
    drawn = model.attention.in_proj_weight.detach().view(3, -1).std(dim=1)
    # The relative standard error of a standard deviation from n truncated normals is below sqrt(1 / (2 n)).
    assert drawn.tolist() == pytest.approx([1 / 8, 1 / 16, 1 / 24], rel=5 / sqrt(2 * 64 * 64))


# --- biases -------------------------------------------------


def test_bias_is_zero() -> None:
    model = nn.Sequential(nn.Linear(32, 32), nn.Conv1d(4, 8, 1))
    model[1].forward = lambda x: x  # type: ignore[method-assign]
    plan = autoinit.initialize(model, (4, 32))
    assert plan["0.bias"].action == "zero"
    assert not model[0].bias.any()


CENTRED = {
    "linear": (lambda: nn.Sequential(nn.ReLU(), nn.Linear(256, 128)), (64, 256), 0.0),
    "conv": (lambda: nn.Sequential(nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1)), (8, 32, 8, 8), 0.0),
    "grouped conv": (lambda: nn.Sequential(nn.ReLU(), nn.Conv2d(32, 64, 3, groups=4)), (8, 32, 8, 8), 0.0),
    "transposed": (lambda: nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(32, 64, 3, padding=1)), (8, 32, 8, 8), 0.0),
    "grouped transposed": (
        lambda: nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(32, 64, 3, padding=2, groups=4)), (8, 32, 8, 8), 0.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CENTRED)
def test_centring_bias_cancels_the_incoming_mean(name: str) -> None:
    """With b = -mu sum(W) every channel has mean 0 over the data, and the variance is still nu."""
    build, shape, model_error = CENTRED[name]
    model = build()
    plan = autoinit.plan(model, shape, center="bias")
    assert plan["1.bias"].action == "centre"
    assert plan["1.bias"].parts[0].value == pytest.approx(1 / sqrt(2 * np.pi), rel=1e-6)
    drawn = outputs(model, model[1], shape, center="bias")
    assert_second_moment(drawn, 1.0, model_error)
    plain = outputs(model, model[1], shape)
    inner = (slice(None), slice(None), *((slice(2, -2),) * (len(shape) - 2)))

    def size_of_channel_means(tensors: list[torch.Tensor]) -> float:
        means = [t[inner].transpose(0, 1).flatten(1).mean(1) for t in tensors]
        return float(torch.stack(means).square().mean())

    # Without it a channel's mean is mu sum(W): a third of all power is 1/pi. What is left is the mean over the sample.
    assert size_of_channel_means(plain) > 0.2
    entries = shape[0] * (4 if len(shape) == 4 else 1)
    assert size_of_channel_means(drawn) < 4.0 / entries


def test_centring_bias_of_packed_parts() -> None:
    """Slices of one packed bias belong to slices of one packed weight, each with its own incoming mean."""
    model = CrossAttention()
    with torch.no_grad():
        model.attention.in_proj_bias.normal_()
    shape = (8, 12, 64)
    inputs = [autoinit.Input(shape, mean=m) for m in (1.0, 2.0, -3.0)]
    autoinit.initialize(model, inputs, center="bias")
    sums = model.attention.in_proj_weight.detach().view(3, 64, 64).sum(dim=2)
    expected = -torch.tensor([1.0, 2.0, -3.0])[:, None] * sums
    torch.testing.assert_close(model.attention.in_proj_bias.detach().view(3, 64), expected, rtol=1e-4, atol=1e-5)


def test_centring_in_a_deep_network_keeps_the_variance() -> None:
    layers = [layer for _ in range(12) for layer in (nn.Linear(256, 256), nn.ReLU())]
    model = nn.Sequential(*layers[:-1])
    assert_second_moment(outputs(model, model[-1], (64, 256), center="bias"), 1.0)


def test_check_sees_that_a_centring_bias_belongs_to_its_weight() -> None:
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128))
    autoinit.initialize(model, (64, 64), center="bias")
    checked = autoinit.check(model, (64, 64))
    assert checked.weight_layers[1].second == pytest.approx(1.0, abs=0.15)  # 64 x 128 weights: sqrt(2/8192) each layer


def test_strided_transposed_convolution_is_not_centred() -> None:
    """Its outputs see different taps, so that no single bias cancels the mean everywhere."""
    model = nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(8, 8, 4, stride=2))
    assert autoinit.plan(model, (4, 8, 6, 6), center="bias")["1.bias"].action == "zero"


def test_handmade_bias_starts_at_zero() -> None:
    """x @ W + b with a parameter of one number per feature is a bias; a table of positions is not."""

    class Handmade(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.randn(32, 64))
            self.b = nn.Parameter(torch.ones(64))
            self.positions = nn.Parameter(torch.ones(5, 64))

        def forward(self, x):
            return torch.addmm(self.b, x, self.w) + self.positions

    model = Handmade()
    plan = autoinit.initialize(model, (5, 32))
    assert plan["b"].action == "zero" and float(model.b.abs().max()) == 0.0
    assert plan["positions"].action == "kept" and float(model.positions.min()) == 1.0


# --- embeddings -------------------------------------------------


class Tied(nn.Module):
    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(100, 64)
        self.mix = nn.Linear(64, 64)
        self.head = nn.Linear(64, 100, bias=False)
        if tied:
            self.head.weight = self.table.weight

    def forward(self, tokens):
        return self.head(F.gelu(self.mix(self.table(tokens))))


def test_embedding_has_the_target_variance() -> None:
    plan = autoinit.plan(Tied(False), autoinit.Input((16, 32), vocabulary=100), variance=2.0)
    assert plan["table.weight"].std == pytest.approx(sqrt(2), rel=1e-6)


def test_tied_embedding_the_projection_wins() -> None:
    model = Tied(True)
    plan = autoinit.initialize(model, autoinit.Input((16, 32), vocabulary=100))
    table = plan["table.weight"]
    assert "projection" in table.reason and "tied" in table.reason
    gelu = next(t for t in plan.tensors if t.op == "aten.gelu")
    assert table.std == pytest.approx(1 / sqrt(64 * gelu.second), rel=1e-5)
    head = plan.tensors[plan.outputs[0]]
    assert head.second == pytest.approx(1.0, rel=1e-5)
    assert model.head.weight is model.table.weight
    # The layer between compensates for what the small table puts out.
    assert plan["mix.weight"].std == pytest.approx(1 / (sqrt(64) * table.std), rel=1e-5)


# --- recurrent -------------------------------------------------


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "projected", "bidirectional"])
def test_recurrent_kernels(kind: str) -> None:
    inputs, hidden = 24, 32
    torch.manual_seed(0)
    options: dict = {"projected": {"proj_size": 16}, "bidirectional": {"bidirectional": True}}.get(kind, {})
    model = getattr(nn, kind if kind.isupper() else "LSTM")(inputs, hidden, num_layers=2, **options)
    plan = autoinit.initialize(model, (5, 8, inputs))
    gates = {"GRU": 3, "RNN": 1}.get(kind, 4)
    for name, p in model.named_parameters():
        values = p.detach()
        assert plan[name].action in ("set", "zero"), name
        if "weight_hh" in name or "weight_hr" in name:
            for block in values.chunk(gates if "hh" in name else 1):
                small = block if block.shape[0] <= block.shape[1] else block.T
                torch.testing.assert_close(small @ small.T, torch.eye(small.shape[0]), atol=1e-5, rtol=0)
        elif "weight_ih" in name:
            bound = sqrt(6 / (p.shape[1] + hidden))
            assert float(values.abs().max()) <= bound
            # uniform: the relative standard error of a standard deviation from n values is sqrt(0.2 / n)
            assert float(values.std()) == pytest.approx(bound / sqrt(3), rel=5 * sqrt(0.2 / values.numel()))
        elif gates == 4 and "bias_ih" in name:
            assert values.view(4, hidden).mean(1).tolist() == [0.0, 1.0, 0.0, 0.0]
            assert set(values.tolist()) == {0.0, 1.0}
        else:
            assert not values.any(), name


def test_recurrent_layer_passes_its_statistics_on() -> None:
    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.LSTM(32, 128, batch_first=True)
            self.head = nn.Linear(128, 64)

        def forward(self, x):
            return self.head(self.cell(x)[0][:, -1])

    model = Classifier()
    assert_second_moment(outputs(model, model.head, (64, 12, 32)), 1.0, model_error=0.1)


# --- other rules -------------------------------------------------


def test_independent_rule_set_is_the_papers_model() -> None:
    """Global average pooling after a ReLU stack: nu/K without dependence, far more with it."""
    layers = (nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = nn.Sequential(*layers, nn.Linear(16, 4))
    paper = autoinit.plan(model, (8, 3, 12, 12), rules=autoinit.rules.independent)
    ours = autoinit.plan(model, (8, 3, 12, 12))
    pooled = next(k for k, t in enumerate(ours.tensors) if "avg_pool" in t.op)
    assert paper.tensors[pooled].variance == pytest.approx(1 / 64, rel=1e-6)
    assert ours.tensors[pooled].variance > 0.2
