"""Which parameters are set, and how: every row of the parameter policy, on real PyTorch models.

Measured variances are means over `SEEDS` draws of the weights. Their relative standard error is taken from the
draws themselves, and a prediction has to lie within five of them (plus a stated model error where the rule is not
exact).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402

SEEDS = 16


def outputs(model: nn.Module, module: nn.Module, x, seeds: int = SEEDS, **options) -> list[torch.Tensor]:
    """What `module` puts out after `model` was initialized, once for each seed, on fresh N(0, 1) inputs."""
    collected: list[torch.Tensor] = []
    plan = autoinit.plan(model, x, **options)
    hook = module.register_forward_hook(lambda m, args, out: collected.append(out.detach().double()))
    shapes = x if isinstance(x, list) else [x]
    for seed in range(seeds):
        plan.apply(model, seed=seed)
        generator = torch.Generator().manual_seed(1000 + seed)
        with torch.no_grad():
            model(*[torch.randn(s, generator=generator) for s in shapes])
    hook.remove()
    return collected


def assert_second_moment(tensors: list[torch.Tensor], expected: float, model_error: float = 0.0) -> None:
    found = np.array([float(t.square().mean()) for t in tensors])
    error = found.std(ddof=1) / sqrt(len(found))
    assert abs(found.mean() - expected) <= 5 * error + model_error * expected, (found.mean(), error, expected)


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


# --- what is left as it is -------------------------------------------------


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


# --- weights made inside forward -------------------------------------------------


class StandardisedConv(nn.Conv2d):
    """(w - mean) / std times a gain."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.gain = nn.Parameter(torch.ones(self.out_channels, 1, 1, 1))

    def forward(self, x):
        w, over = self.weight, (1, 2, 3)
        w = (w - w.mean(over, keepdim=True)) / (w.std(over, keepdim=True) + 1e-5) * self.gain
        return F.conv2d(x, w, self.bias)


class ScaledStandardisedConv(StandardisedConv):
    """The same by batch norm over the flattened weight."""

    def forward(self, x):
        fan = self.weight[0].numel()
        flat = self.weight.reshape(1, self.out_channels, -1)
        w = F.batch_norm(flat, None, None, weight=(self.gain * fan**-0.5).view(-1), training=True, eps=1e-6)
        return F.conv2d(x, w.reshape_as(self.weight), self.bias)


EFFECTIVE = {
    "weight norm, old": (lambda: nn.utils.weight_norm(nn.Conv2d(32, 64, 3)), "weight_g", 1.0),
    "weight norm": (
        lambda: nn.utils.parametrizations.weight_norm(nn.Conv2d(32, 64, 3)), "parametrizations.weight.original0", 1.0,
    ),
    "standardised": (lambda: StandardisedConv(32, 64, 3), "gain", 1 / sqrt(288)),
    "scaled standardised": (lambda: ScaledStandardisedConv(32, 64, 3), "gain", 1.0),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", EFFECTIVE)
def test_scale_of_a_normalised_weight_is_set_by_its_gain(name: str) -> None:
    """After a relu the gain is 1/sqrt(E[x^2]) = sqrt(2) times what an input of variance 1 needs.

    Weights that are centred cancel the mean, so that the variance 1/2 - 1/(2 pi) counts instead.
    """
    build, gain, unit = EFFECTIVE[name]
    power = 0.5 - 1 / (2 * np.pi) if "standardised" in name else 0.5
    drawn = []
    for seed in range(SEEDS):  # the direction stays, so that each seed needs a model of its own
        torch.manual_seed(seed)
        model = nn.Sequential(nn.ReLU(), build())
        plan = autoinit.plan(model, (8, 32, 8, 8))
        drawn += outputs(model, model[1], (8, 32, 8, 8), seeds=1)
    assert plan[f"1.{gain}"].action == "gain"
    assert plan[f"1.{gain}"].std == pytest.approx(unit / sqrt(power), rel=0.01)
    direction = next(p for p in plan.parameters if p.shape == [64, 32, 3, 3])
    assert direction.action == "kept" and "normalised inside forward" in direction.reason
    # Rows are normalised by their own statistics, which the moments account for to a few percent.
    assert_second_moment(drawn, 1.0, model_error=0.03)


SCALE_FREE = {
    "spectral norm": (nn.utils.parametrizations.spectral_norm, 128 / (sqrt(128) + sqrt(64)) ** 2),
    "spectral norm, old": (nn.utils.spectral_norm, 128 / (sqrt(128) + sqrt(64)) ** 2),
    "orthogonal": (nn.utils.parametrizations.orthogonal, 1.0),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", SCALE_FREE)
def test_weight_whose_scale_cannot_be_set_is_accounted(name: str) -> None:
    """The next layer makes up for it."""
    wrap, expected = SCALE_FREE[name]
    torch.manual_seed(0)
    model = nn.Sequential(wrap(nn.Linear(128, 64)), nn.Linear(64, 64))
    plan = autoinit.plan(model, (64, 128))
    weight = next(p for p in plan.parameters if p.shape == [64, 128])
    assert weight.action == "kept" and "no effect" in weight.reason
    assert plan["0.bias"].action == "zero"
    first = plan.weight_layers[0]
    assert first.target is None
    assert first.second == pytest.approx(expected, rel=0.1)  # the top singular value of one draw
    # power iterations that have not converged give a smaller divisor: up to ten percent of power
    assert_second_moment(outputs(model, model[0], (64, 128)), first.second, model_error=0.1)
    assert_second_moment(outputs(model, model[1], (64, 128)), 1.0, model_error=0.1)


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


def test_independent_rule_set_is_the_papers_model() -> None:
    """Global average pooling after a ReLU stack: nu/K without dependence, far more with it."""
    layers = (nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    model = nn.Sequential(*layers, nn.Linear(16, 4))
    paper = autoinit.plan(model, (8, 3, 12, 12), rules=autoinit.rules.independent)
    ours = autoinit.plan(model, (8, 3, 12, 12))
    pooled = next(k for k, t in enumerate(ours.tensors) if "avg_pool" in t.op)
    assert paper.tensors[pooled].variance == pytest.approx(1 / 64, rel=1e-6)
    assert ours.tensors[pooled].variance > 0.2
