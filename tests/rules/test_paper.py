"""`rules.paper` is what the paper prints, on real PyTorch ops; and where it is wrong, measurement says so."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from autoinit.core.graph.specs import SPECS  # noqa: E402
from autoinit.rules import RULES, paper, paper_contractions, paper_layers  # noqa: E402

torch.set_num_threads(1)

M, V = 0.7, 2.5
N, W = -0.4, 0.6
"""Mean and variance of the first and of the second input."""
SHAPE = (4, 6, 8, 8)


class Op(nn.Module):
    """A function as a model; the parameter is there because a model has one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function, self.unused = function, nn.Parameter(torch.ones(1))

    def forward(self, *inputs: Tensor) -> Any:
        return self.function(*inputs)


def planned(function: Any, *inputs: Input, rules: Any = paper, **options: Any) -> autoinit.Plan:
    model = function if isinstance(function, nn.Module) else Op(function)
    return autoinit.plan(model, inputs, rules=rules, strict=True, **options)


def numbers(function: Any, *inputs: Input, **options: Any) -> tuple[float, float]:
    """Mean and variance of the (first) output."""
    plan = planned(function, *inputs, **options)
    row = plan.tensors[plan.outputs[0]]
    return row.mean, row.variance


def one(shape: tuple[int, ...] = SHAPE, mean: float = M, variance: float = V) -> Input:
    return Input(shape, mean=mean, variance=variance)


def other(shape: tuple[int, ...] = SHAPE) -> Input:
    return Input(shape, mean=N, variance=W)


def maximum(k: int) -> tuple[float, float]:
    """Mean and variance of the largest of k independent N(M, V), from the density k phi Phi^(k - 1)."""

    def moment(power: int) -> float:
        return integrate.quad(
            lambda z: (M + math.sqrt(V) * z) ** power * k * stats.norm.pdf(z) * stats.norm.cdf(z) ** (k - 1), -9, 9
        )[0]  # fmt: skip

    return moment(1), moment(2) - moment(1) ** 2


PRINTED = {
    "dropout": (lambda x: F.dropout(x, 0.3), M, V / 0.7),
    "spatial dropout": (lambda x: F.dropout2d(x, 0.3), 0.7 * M, 0.7 * V),
    "average pooling": (lambda x: F.avg_pool2d(x, 2), M, V / 4),
    "average pooling with padding": (lambda x: F.avg_pool2d(x, 3, 1, 1), M, V / 9),
    "global average pooling": (lambda x: F.adaptive_avg_pool2d(x, 1), M, V / 64),
    "reduce_mean": (lambda x: x.mean(dim=(2, 3)), M, V / 64),
    "reduce_sum": (lambda x: x.sum(dim=1), 6 * M, 6 * V),
    "max pooling": (lambda x: F.max_pool2d(x, 3, 2, 1), *maximum(9)),
    "global max pooling": (lambda x: x.amax(dim=(2, 3)), *maximum(64)),
    "layer norm": (lambda x: F.layer_norm(x, (8,)), 0.0, 1.0),
    "group norm": (lambda x: F.group_norm(x, 2), 0.0, 1.0),
    "batch norm": (lambda x: F.batch_norm(x, None, None, training=True), 0.0, 1.0),
    "instance norm": (lambda x: F.instance_norm(x), 0.0, 1.0),
    "zero padding": (lambda x: F.pad(x, (1, 2, 3, 0)), M * 64 / (11 * 11), V * 64 / (11 * 11)),
    "cropping": (lambda x: F.pad(x, (-1, -1, -2, 0)), M, V),
    "shape adjustment": (lambda x: x.flatten(1).reshape(4, 6, 64).transpose(1, 2)[:, 3:, 1:4], M, V),
    "upsampling": (lambda x: F.interpolate(x, scale_factor=2), M, V),
    "bilinear upsampling": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), M, V),
    "tensor plus itself": (lambda x: x + x, 2 * M, 2 * V),
    "tensor times itself": (lambda x: x * x, M**2, (V + M**2) ** 2 - M**4),
    "scale and shift": (lambda x: 3 * x - 1, 3 * M - 1, 9 * V),
    "softmax, unknown": (lambda x: x.softmax(-1), M, V),
    "variance, unknown": (lambda x: x.var(dim=-1), M, V),
    "sorting, unknown": (lambda x: x.sort(dim=-1)[0], M, V),
    "rms norm, unknown": (lambda x: F.rms_norm(x, (8,)), M, V),
    "reflecting padding, unknown": (lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), M, V),
}


@pytest.mark.parametrize("name", PRINTED)
def test_one_operand(name: str) -> None:
    function, mean, variance = PRINTED[name]
    assert numbers(function, one()) == pytest.approx((mean, variance), rel=1e-6)


PAIRS = {
    "add": (lambda x, y: x + y, M + N, V + W),
    "subtract": (lambda x, y: x - y, M - N, V + W),
    "average": (lambda x, y: (x + y) / 2, (M + N) / 2, (V + W) / 4),
    "average of three": (lambda x, y: (x + y + y) / 3, (M + 2 * N) / 3, (V + 2 * W) / 9),
    "multiply": (lambda x, y: x * y, M * N, (V + M**2) * (W + N**2) - (M * N) ** 2),
    "multiply three": (lambda x, y: x * y * y, M * N**2, (V + M**2) * (W + N**2) ** 2 - M**2 * N**4),
    "matmul": (lambda x, y: x @ y.mT, 8 * M * N, 8 * ((V + M**2) * (W + N**2) - (M * N) ** 2)),
    "einsum": (lambda x, y: torch.einsum("bchw,bdhw->bcd", x, y), 64 * M * N,
               64 * ((V + M**2) * (W + N**2) - (M * N) ** 2)),
    "quotient, unknown": (lambda x, y: x / y, M, V),
    "maximum, unknown": (torch.maximum, M, V),
    "where, unknown": (lambda x, y: torch.where(x > 0, x, y), M, V),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_two_operands(name: str) -> None:
    function, mean, variance = PAIRS[name]
    assert numbers(function, one(), other()) == pytest.approx((mean, variance), rel=1e-6)


@pytest.mark.parametrize("axis", [0, 1, 3])
def test_concatenation_is_weighted_by_elements(axis: int) -> None:
    shape = tuple(3 * n if a == axis else n for a, n in enumerate(SHAPE))
    mean = (M + 3 * N) / 4
    expected = mean, (V + M**2 + 3 * (W + N**2)) / 4 - mean**2
    made = numbers(lambda x, y: torch.cat([x, y], axis), one(), other(shape))
    assert made == pytest.approx(expected, rel=1e-6)


def test_stack_is_a_concatenation() -> None:
    mean = (M + N) / 2
    made = numbers(lambda x, y: torch.stack([x, y]), one(), other())
    assert made == pytest.approx((mean, (V + M**2 + W + N**2) / 2 - mean**2), rel=1e-6)


ACTIVATIONS = {
    "elu": F.elu, "exponential": torch.exp, "gelu": F.gelu, "hard_sigmoid": F.hardsigmoid, "relu": F.relu,
    "leaky": lambda x: F.leaky_relu(x, 0.2), "selu": F.selu, "sigmoid": torch.sigmoid, "softplus": F.softplus,
    "softsign": F.softsign, "swish": F.silu, "tanh": torch.tanh, "thresholded": lambda x: F.threshold(x, 1.0, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_functions_are_integrated_over_the_normal_law(name: str) -> None:
    function, std = ACTIVATIONS[name], math.sqrt(V)

    def moment(power: int) -> float:
        def weighted(x: float) -> float:
            return float(function(torch.tensor([x], dtype=torch.float64))[0] ** power * stats.norm.pdf(x, M, std))

        return integrate.quad(weighted, M - 14 * std, M + 14 * std, points=[0.0, 1.0, M], limit=200)[0]

    mean = moment(1)
    assert numbers(function, one()) == pytest.approx((mean, moment(2) - mean**2), rel=2e-5)


def test_prelu_counts_as_relu_whatever_its_slope() -> None:
    expected = numbers(F.relu, one())
    for slope in (0.0, 0.25, 0.9):
        assert numbers(nn.PReLU(init=slope), one()) == pytest.approx(expected, rel=1e-9)
    assert numbers(nn.PReLU(init=0.9), one(), rules=None)[1] > 1.5 * expected[1]


# --- weights ----------------------------------------------------------------------------------------------------------

LAYERS = {
    "dense": (nn.Linear(40, 30), (16, 40), 40),
    "convolution": (nn.Conv2d(6, 12, 3), SHAPE, 54),
    "same padding is ignored": (nn.Conv2d(6, 12, 3, padding=1), SHAPE, 54),
    "stride and dilation are ignored": (nn.Conv2d(6, 12, 3, stride=2, dilation=2, padding=2), SHAPE, 54),
    "depthwise": (nn.Conv2d(6, 6, 3, groups=6), SHAPE, 54),
    "grouped": (nn.Conv2d(6, 12, 3, groups=2), SHAPE, 54),
    "transposed": (nn.ConvTranspose2d(6, 12, 4, stride=2), SHAPE, 96),
    "one dimension": (nn.Conv1d(6, 12, 5), (4, 6, 20), 30),
    "three dimensions": (nn.Conv3d(6, 4, 3), (2, 6, 5, 5, 5), 162),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("variance", [1.0, 0.25])
def test_standard_deviation_of_weights(name: str, variance: float) -> None:
    layer, shape, fan_in = LAYERS[name]
    plan = planned(layer, one(shape), variance=variance)
    row = plan.tensors[plan.outputs[0]]
    assert plan["weight"].parts[0].std == pytest.approx(math.sqrt(variance / (fan_in * (V + M**2))), rel=1e-9)
    assert plan["bias"].action == "zero"
    assert (row.mean, row.variance) == pytest.approx((0.0, variance), abs=1e-9)
    assert row.fan == pytest.approx(fan_in)


def test_a_weight_that_is_written_out_is_a_dense_layer() -> None:
    class Written(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.u = nn.Parameter(torch.randn(8, 5)), nn.Parameter(torch.randn(4, 5, 3))

        def forward(self, x: Tensor) -> Tensor:
            return torch.einsum("bnhi,hio->bnho", (x @ self.w).reshape(2, 3, 4, 5), self.u)

    plan = planned(Written(), one((2, 3, 4, 8)))
    assert plan["w"].parts[0].std == pytest.approx((8 * (V + M**2)) ** -0.5)
    assert plan["u"].parts[0].std == pytest.approx(5**-0.5)


def test_drawn_weights_have_the_printed_deviation_although_the_normal_is_truncated() -> None:
    layer = nn.Linear(500, 400)
    autoinit.initialize(layer, one((8, 500)), rules=paper)
    wanted = (500 * (V + M**2)) ** -0.5
    assert layer.weight.std().item() == pytest.approx(wanted, rel=5 * (2 * layer.weight.numel()) ** -0.5)


def test_check_uses_the_weights_that_are_there() -> None:
    layer = nn.Linear(300, 200)
    row = autoinit.check(layer, one((8, 300)), rules=paper).tensors[0]
    w, b = layer.weight.detach().double(), layer.bias.detach().double()
    spread = w.var(correction=0).item()
    expected = 300 * ((spread + w.mean().item() ** 2) * (V + M**2) - (w.mean().item() * M) ** 2)
    assert row.variance == pytest.approx(expected + b.var(correction=0).item(), rel=1e-5)


def test_attention_is_the_same_fused_and_written_out() -> None:
    def fused(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v)

    def written(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return ((q @ k.mT) * 16**-0.5).softmax(-1) @ v

    inputs = Input((2, 3, 10, 16)), Input((2, 3, 10, 16)), one((2, 3, 10, 16))
    assert numbers(fused, *inputs) == pytest.approx(numbers(written, *inputs), rel=1e-9)
    assert numbers(fused, *inputs) == pytest.approx((0.0, 10 * (V + M**2)))  # logits of variance one, passed on


def test_recurrent_layers_are_estimated() -> None:
    layer = nn.LSTM(12, 40, batch_first=True)
    plan = planned(layer, Input((64, 20, 12)))
    ours = autoinit.plan(layer, Input((64, 20, 12)))
    assert plan.tensors[0].variance == pytest.approx(ours.tensors[0].variance, rel=1e-6)
    assert plan["weight_hh_l0"].parts[0].kind == "orthogonal"


# --- the set ----------------------------------------------------------------------------------------------------------


def test_every_op_has_a_rule_of_the_paper_or_says_why_not() -> None:
    assert (set(SPECS) | set(RULES)) - set(paper.table) == {"recurrent", "noise", "custom"}


def test_every_formula_of_the_documented_table_names_a_function() -> None:
    text = (Path(__file__).parents[2] / "docs" / "differences-from-the-paper.md").read_text(encoding="utf-8")
    section = text.split("## The paper's own rules")[1]
    named = re.findall(r"`(paper_\w+)\.(\w+)`", section)
    modules = {"paper_layers": paper_layers, "paper_contractions": paper_contractions}
    assert len(named) > 12
    assert all(callable(getattr(modules[module], name)) for module, name in named)


def test_unknown_layers_are_named_in_the_plan() -> None:
    notes = planned(lambda x: x.softmax(-1), one()).notes
    assert any(n.kind == "passed" and "no formula" in n.message for n in notes)
    assert not any(n.kind == "passed" for n in planned(F.relu, one()).notes)


def test_correlation_of_the_input_plays_no_part() -> None:
    block = nn.Sequential(nn.Conv2d(6, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
    plain = planned(block, one())
    tied = planned(block, Input(SHAPE, mean=M, variance=V, correlation=0.9))
    for a, b in zip(plain.tensors, tied.tensors, strict=True):
        assert (a.mean, a.variance) == pytest.approx((b.mean, b.variance), rel=1e-9)


def test_standardised_weights_are_worked_out_by_our_own_rules() -> None:
    class Standardised(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            w = self.weight
            return F.linear(x, (w - w.mean(1, keepdim=True)) / w.std(1, keepdim=True) * 30**-0.5, self.bias)

    ours, theirs = (numbers(Standardised(30, 20), Input((16, 30)), rules=r) for r in (None, paper))
    assert theirs == pytest.approx(ours, rel=0.05)


def test_whole_models_are_planned() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.attention = nn.LayerNorm(16), nn.MultiheadAttention(16, 2, batch_first=True)
            self.mlp = nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

        def forward(self, x: Tensor) -> Tensor:
            y = self.norm(x)
            x = x + self.attention(y, y, y, need_weights=False)[0]
            return x + self.mlp(x)

    plan = planned(nn.Sequential(Block(), Block()), (4, 10, 16))
    assert plan.tensors[plan.outputs[0]].variance == pytest.approx(5.0)  # the stream, and one for each branch
    assert not plan.warnings


# --- where the paper is wrong, measured -------------------------------------------------------------------------------


def measured(function: Callable[[Tensor], Tensor], x: Input, repeats: int = 40) -> tuple[float, float]:
    """The variance of a tensor around the mean of all repeats, with its standard error."""
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    with torch.no_grad():
        made = [function(torch.as_tensor(x.sample(rng), dtype=torch.float32)).double() for _ in range(repeats)]
    mean = float(torch.stack([y.mean() for y in made]).mean())
    seconds = torch.stack([((y - mean) ** 2).mean() for y in made])
    return float(seconds.mean()), float(seconds.std() / math.sqrt(repeats))


WRONG = {
    "dropout of a mean": (lambda x: F.dropout(x, 0.5), one(mean=1.5, variance=1.0), 2.0),
    "spatial dropout": (lambda x: F.dropout2d(x, 0.5), one((64, 32, 4, 4), mean=0.0, variance=1.0), 0.5),
    "zero padding of a mean": (lambda x: F.pad(x, (2, 2, 2, 2)), one(mean=2.0, variance=1.0), 64 / 144),
    "a tensor plus itself": (lambda x: x + x, one(), 2 * V),
    "a tensor times a function of itself": (lambda x: x * torch.tanh(x), one(mean=0.0, variance=9.0), None),
    "mean of correlated entries": (lambda x: x.mean(dim=-1), Input((64, 32, 16), correlation={2: 0.6}), 1 / 16),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_paper_is_off_and_our_rules_are_not(name: str) -> None:
    function, x, printed = WRONG[name]
    theirs, ours = numbers(function, x)[1], numbers(function, x, rules=None)[1]
    if printed is not None:
        assert theirs == pytest.approx(printed, rel=1e-6)
    found, error = measured(function, x)
    assert abs(ours - found) <= 5 * error + 1e-3 * found
    assert abs(theirs - found) > 0.2 * found + 10 * error


def draws(make: Callable[[], nn.Module], x: Input, rules: Any, seeds: int) -> float:
    """The variance of the output, averaged over draws of the weights by these rules."""
    found = []
    for seed in range(seeds):
        model = make()
        autoinit.initialize(model, x, rules=rules, seed=seed)
        with torch.no_grad():
            y = model(torch.as_tensor(x.sample(np.random.default_rng(seed)), dtype=torch.float32))
        found.append(float((y.double() ** 2).mean()))
    return float(np.mean(found))


def test_depthwise_layers_lose_what_the_fan_overcounts() -> None:
    """A depthwise layer of C channels that is drawn for C times the fan gives 1/C; 16 x 9 weights: +-12 % per draw."""

    def make() -> nn.Module:
        return nn.Conv2d(16, 16, 3, groups=16)

    tolerance = 5 * math.sqrt(2 / (16 * 9)) / math.sqrt(20)
    assert draws(make, Input((8, 16, 8, 8)), paper, 20) == pytest.approx(1 / 16, rel=tolerance)
    assert draws(make, Input((8, 16, 8, 8)), None, 20) == pytest.approx(1.0, rel=tolerance)


def test_padded_layers_lose_the_signal_layer_by_layer() -> None:
    """Theory: 8x8 maps keep (22/24)^2 of it per 3x3 layer at first, and the border's profile adapts.

    Twelve layers of width 32 scatter by exp(sqrt(12 * 5/32)) per draw, a factor of 1.4 for the mean of 16.
    """

    def make() -> nn.Module:
        return nn.Sequential(
            *(m for _ in range(12) for m in (nn.Conv2d(32, 32, 3, padding=1), nn.ReLU())), nn.Flatten()
        )

    plain = draws(make, Input((4, 32, 8, 8)), paper, 16)
    right = draws(make, Input((4, 32, 8, 8)), None, 16)
    assert plain < 0.45 * right


def test_global_average_pooling_after_convolutions_is_underestimated() -> None:
    """Positions share what the weights make of a constant: ReLU leaves a mean per channel behind."""
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
    x = Input((32, 3, 12, 12))
    ours = autoinit.initialize(model, x).tensors[-1].variance
    theirs = planned(model, x).tensors[-1].variance
    with torch.no_grad():
        y = model(torch.as_tensor(x.sample(np.random.default_rng(0)), dtype=torch.float32)).double()
    found = float(y.var())
    # 32 channels, each with its own mean over the data: the variance of them scatters by sqrt(2/31) = 25 %
    assert found == pytest.approx(ours, rel=4 * math.sqrt(2 / 31))
    assert theirs < 0.2 * found
