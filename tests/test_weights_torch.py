"""Weights that meet something on their way, against measurement: the second moment of the real output over draws.

`hardening.md`, row 2 (`weight * mask` became one constant), and of the rows "wrong without a note" the products of two
parameters and the weights that were left alone under a wrong name.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.utils import prune  # noqa: E402

import autoinit  # noqa: E402
from autoinit.testing import violations  # noqa: E402

DRAWS = 24


class Layer(nn.Module):
    """F.linear with a weight that `make` computes of the parameters (given by their shapes)."""

    def __init__(self, make: Callable[..., Any], **shapes: tuple[int, ...]) -> None:
        super().__init__()
        self.make, self.names = make, tuple(shapes)
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.randn(shape)))

    def forward(self, x):
        return F.linear(x, self.make(*(getattr(self, name) for name in self.names)))


def seconds(model: nn.Module, plan: autoinit.Plan, shape: tuple[int, ...], draws: int = DRAWS) -> Any:
    found = []
    for seed in range(draws):
        plan.apply(model, seed=seed)
        torch.manual_seed(1000 + seed)
        with torch.no_grad():
            found.append(float(model(torch.randn(shape)).double().square().mean()))
    return np.array(found)


def on_target(model: nn.Module, shape: tuple[int, ...], model_error: float = 0.02, **options: Any) -> autoinit.Plan:
    """Mean over draws within four of its standard errors of the target, plus what the rule leaves out."""
    plan = autoinit.plan(model, shape, **options)
    found = seconds(model, plan, shape)
    error = found.std(ddof=1) / sqrt(len(found))
    assert abs(found.mean() - 1.0) <= 4 * error + model_error, (found.mean(), error)
    assert not plan.warnings
    assert not violations(plan, {n: p.detach().numpy() for n, p in model.named_parameters()})
    return plan


MASK = (torch.rand(96, 128, generator=torch.Generator().manual_seed(1)) < 0.3).float()
MADE = torch.ones(96, 128).tril()  # rows with 1 to 96 live connections


@pytest.mark.parametrize("mask", [MASK, MADE, torch.ones(96, 128), MASK[:, :1], MASK[:1]],
                         ids=["pruned", "MADE", "ones", "rows", "columns"])  # fmt: skip
def test_row_2_masks_count_the_live_connections(mask) -> None:
    """sigma^2 = 1 / (fan times the share of live connections), and the weight is random."""
    model = Layer(lambda w: w * mask, w=(96, 128))
    plan = on_target(model, (64, 128))
    share = float(mask.expand(96, 128).square().mean())
    assert plan["w"].std == pytest.approx(1 / sqrt(128 * share), rel=1e-6)
    assert plan["w"].action == "set" and plan["w"].parts[0].kind == "random"


@pytest.mark.parametrize("method", ["random", "l1", "rows", "nothing"])
def test_row_2_pruned_models(method: str) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 96))
    for layer in (model[0], model[2]):
        if method == "random":
            prune.random_unstructured(layer, "weight", 0.5)
        elif method == "l1":
            prune.l1_unstructured(layer, "weight", 0.8)
        elif method == "rows":
            prune.ln_structured(layer, "weight", 0.25, 2, 0)
        else:
            prune.identity(layer, "weight")
    plan = on_target(model, (64, 64), model_error=0.05)
    assert [row.weight for row in plan.weight_layers] == ["0.weight_orig", "2.weight_orig"]
    assert plan.weight_layers[1].fan == pytest.approx(128 * float(model[2].weight_mask.mean()), rel=0.01)


@pytest.mark.slow
def test_row_2_a_net_with_masks_of_ones_learns_like_one_without() -> None:
    from sklearn.datasets import load_digits

    data = load_digits()
    x = torch.tensor(data.data / 16 - 0.3, dtype=torch.float32)
    y = torch.tensor(data.target)

    def accuracy(masked: bool) -> float:
        torch.manual_seed(0)
        layers = [nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 10)]
        model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
        if masked:
            for layer in layers:
                prune.identity(layer, "weight")
        autoinit.initialize(model, x[:256])
        step = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        for epoch in range(6):
            order = torch.randperm(1400, generator=torch.Generator().manual_seed(epoch))
            for batch in order.split(50):
                step.zero_grad()
                F.cross_entropy(model(x[batch]), y[batch]).backward()
                step.step()
        return float((model(x[1400:]).argmax(1) == y[1400:]).float().mean())

    plain, masked = accuracy(False), accuracy(True)
    assert plain > 0.85 and masked > plain - 0.03


FACTORS = {
    "product": (lambda a, b: a @ b, {"a": (96, 16), "b": (16, 128)}),
    "three": (lambda a, b, c: a @ b @ c, {"a": (96, 16), "b": (16, 24), "c": (24, 128)}),
    "by linear": (lambda a, b: F.linear(a, b), {"a": (96, 16), "b": (128, 16)}),
    "kron": (lambda a, b: torch.kron(a, b), {"a": (8, 8), "b": (12, 16)}),
    "einsum": (lambda a, b, c: torch.einsum("or,rs,is->oi", a, b, c), {"a": (96, 16), "b": (16, 12), "c": (128, 12)}),
    "entries": (lambda a, b: a * b, {"a": (96, 128), "b": (96, 128)}),
    "sum": (lambda a, b: (a + b) / 3, {"a": (96, 128), "b": (96, 128)}),
    "outer": (lambda a, b: a[:, None] * b, {"a": (96,), "b": (128,)}),
}


@pytest.mark.parametrize("name", FACTORS)
def test_products_of_parameters(name: str) -> None:
    """Every factor gets its share: the same standard deviation for all."""
    make, shapes = FACTORS[name]
    plan = on_target(Layer(make, **shapes), (64, 128))
    assert {p.action for p in plan.parameters} == {"set"}
    assert len({round(p.std, 9) for p in plan.parameters}) == 1


def test_a_product_beside_a_weight() -> None:
    """E[y^2] = fan (s^2 + 4 r s^4) for w + 2 b a with r columns, all of them drawn with s."""
    plan = on_target(Layer(lambda w, b, a: w + 2 * (b @ a), w=(96, 128), b=(96, 8), a=(8, 128)), (64, 128))
    s = plan["w"].std
    assert 128 * (s**2 + 4 * 8 * s**4) == pytest.approx(1.0, rel=1e-5)
    assert plan["a"].std == plan["b"].std == s


@pytest.mark.parametrize("sign", [1, -1])
def test_a_matrix_and_its_transpose(sign: int) -> None:
    plan = on_target(Layer(lambda w: w + sign * w.T, w=(128, 128)), (64, 128))
    assert plan["w"].std == pytest.approx(1 / sqrt(2 * 128), rel=1e-6) and len(plan["w"].parts) == 1


FUNCTIONS = {
    "tanh": lambda w: torch.tanh(3 * w),
    "clamp": lambda w: w.clamp(-0.12, 0.12),
    "round": lambda w: torch.round(w / 0.1) * 0.1,
    "straight through": lambda w: w + (torch.round(w / 0.1) * 0.1 - w).detach(),
    "fake quantised": lambda w: torch.fake_quantize_per_tensor_affine(w, 0.02, 0, -8, 7),
    "signs": lambda w: torch.sign(w) * w.abs().mean(),
    "ternary": lambda w: torch.sign(w) * (w.abs() > 0.5 * w.abs().mean()) * w.abs().mean(1, keepdim=True),
    "absolute": lambda w: w.abs(),
    "square": lambda w: w * w.abs(),
    "dead zone": lambda w: F.softshrink(w, 0.1),
    "triangle": lambda w: torch.tril(w),
    "dropped": lambda w: F.dropout(w, 0.3),
    "gathered": lambda w: w[:, torch.arange(128).flip(0)],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_a_weight(name: str) -> None:
    """Solved for weights of the law that is drawn: normal here, as the rules integrate.

    Steps at a place that depends on the weights themselves are integrated on a grid of 48 points.
    """
    error = 0.1 if name == "ternary" else 0.03
    on_target(Layer(FUNCTIONS[name], w=(96, 128)), (64, 128), model_error=error, distribution="normal")


def test_where_the_scale_has_no_effect_the_weight_is_drawn_all_the_same() -> None:
    model = Layer(lambda w: torch.sign(w) / sqrt(128), w=(96, 128))
    nn.init.ones_(model.w)
    plan = on_target(model, (64, 128))
    assert plan["w"].std == pytest.approx(1 / sqrt(128)) and "no effect" in plan["w"].reason
    assert any("no effect" in n.message for n in plan.notes if n.kind == "info")


def test_directions_that_are_missing_are_drawn() -> None:
    """Weight norm of a constant: the gain is set, and so are the directions."""
    model = Layer(lambda v, g: g * v / v.norm(dim=1, keepdim=True), v=(96, 128), g=(96, 1))
    nn.init.ones_(model.v)
    plan = on_target(model, (64, 128))
    assert plan["v"].action == "set" and plan["g"].action == "gain"
    assert plan["g"].std == pytest.approx(1.0, rel=1e-3)


def test_a_gain_counts_as_it_is() -> None:
    model = Layer(lambda w, g: w * g, w=(96, 128), g=(96, 1))
    plan = on_target(model, (64, 128))
    assert plan["g"].action == "kept"
    size = float(model.g.detach().square().mean())
    assert plan["w"].std == pytest.approx(1 / sqrt(128 * size), rel=1e-5)


class Sum(nn.Module):
    def __init__(self, shape: tuple[int, ...], mean: bool = False) -> None:
        super().__init__()
        self.w, self.mean = nn.Parameter(torch.randn(shape)), mean

    def forward(self, x):
        product = x.unsqueeze(-2) * self.w
        return product.mean(-1) if self.mean else product.sum(-1)


@pytest.mark.parametrize("mean", [False, True])
def test_sums_of_products_are_contractions(mean: bool) -> None:
    plan = on_target(Sum((96, 128), mean), (64, 128))
    assert plan["w"].std == pytest.approx((128 if mean else 1) / sqrt(128), rel=1e-6)
    assert [row.weight for row in plan.weight_layers] == ["w"]


class LocallyConnected(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.randn(24, 144, 64))

    def forward(self, x):
        return (F.unfold(x, 3)[:, None] * self.w).sum(2)


def test_locally_connected_layers() -> None:
    plan = on_target(LocallyConnected(), (8, 16, 10, 10))
    assert plan["w"].std == pytest.approx(1 / 12, rel=1e-3)


class Modulated(nn.Module):
    def __init__(self, demodulate: bool) -> None:
        super().__init__()
        self.w, self.style, self.demodulate = nn.Parameter(torch.randn(24, 32, 3, 3)), nn.Linear(16, 32), demodulate

    def forward(self, x, z):
        n = x.shape[0]
        w = self.w[None] * (self.style(z) + 1)[:, None, :, None, None]
        if self.demodulate:
            w = w * torch.rsqrt(w.square().sum((2, 3, 4), keepdim=True) + 1e-8)
        y = F.conv2d(x.reshape(1, -1, *x.shape[2:]), w.reshape(-1, *w.shape[2:]), groups=n)
        return y.reshape(n, -1, *y.shape[2:])


@pytest.mark.parametrize("demodulate", [False, True])
def test_modulated_convolutions(demodulate: bool) -> None:
    """Styles of mean and variance 1 double E[w^2]; demodulated rows have length one whatever the scale."""
    model = Modulated(demodulate)
    shapes = ((16, 32, 8, 8), (16, 16))
    plan = autoinit.plan(model, shapes)
    found = []
    for seed in range(DRAWS):
        plan.apply(model, seed=seed)
        torch.manual_seed(seed)
        with torch.no_grad():
            found.append(float(model(*(torch.randn(s) for s in shapes)).square().mean()))
    error = np.std(found, ddof=1) / sqrt(DRAWS)
    assert abs(np.mean(found) - 1.0) <= 4 * error + 0.03
    assert plan["w"].action == "set"
    if not demodulate:
        assert plan["w"].std == pytest.approx(1 / sqrt(2 * 288), rel=1e-3)
    assert not violations(plan, {n: p.detach().numpy() for n, p in model.named_parameters()})


class Unrolled(nn.Module):
    """A recurrent network by hand, from a state of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.h = nn.Linear(16, 64), nn.Linear(64, 64)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 64)
        for t in range(x.shape[1]):
            h = torch.tanh(self.x(x[:, t]) + self.h(h))
        return h


def test_a_weight_that_meets_zeros_first_is_decided_by_its_second_use() -> None:
    """An entry of x W over 16 inputs has the variance r, chi-square over 16, and E[tanh(sqrt(r) z)^2] is 0.3836: the
    recurrent weight gets 1/sqrt(64 * 0.3836)."""
    r = chi2.ppf((np.arange(2000) + 0.5) / 2000, 16)[:, None] / 16
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    second = float((np.tanh(np.sqrt(r) * z) ** 2 @ (weights / weights.sum())).mean())
    plan = autoinit.plan(Unrolled(), (32, 4, 16))
    assert not plan.warnings
    assert plan["h.weight"].std == pytest.approx(1 / sqrt(64 * second), rel=1.5e-3)


def test_a_weight_that_meets_zeros_only_is_said() -> None:
    plan = autoinit.plan(Unrolled(), (32, 1, 16))
    assert plan["h.weight"].std == pytest.approx(1 / 8)
    assert any("is zero" in n.message for n in plan.warnings)


class Early(nn.Module):
    """The weight is used as data (its row lengths) before it is used as a weight."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(10 * torch.randn(96, 128))

    def forward(self, x):
        lengths = self.w.square().sum(1)
        return F.linear(x, self.w) * lengths


def test_what_is_used_as_data_first_counts_with_the_scale_that_it_gets() -> None:
    plan = on_target(Early(), (64, 128), model_error=0.05)
    assert plan["w"].std == pytest.approx(1 / sqrt(128), rel=1e-6)


def test_quantisation_aware_training() -> None:
    """Weights behind the observers of torch.ao are set, and those behind quantised activations, too."""
    from torch.ao.quantization import get_default_qat_qconfig, prepare_qat

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32)).train()
    model.qconfig = get_default_qat_qconfig()
    model = prepare_qat(model)
    plan = autoinit.initialize(model, (256, 32))
    assert [p.action for p in plan.parameters] == ["set", "zero", "set", "zero"] and not plan.notes
    assert plan["0.weight"].std == pytest.approx(32**-0.5, rel=1e-6)
    assert plan["2.weight"].std == pytest.approx(32**-0.5, rel=1e-6)  # relu halves the mean square of 64
