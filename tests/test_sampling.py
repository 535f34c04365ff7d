"""Drawing weights: planned standard deviations, seeds by name, layouts, precision, all or nothing.

The relative standard error of a standard deviation from n values of kurtosis k is sqrt((k - 1) / (4 n)); with k <= 3
for all distributions here, sqrt(1 / (2 n)).
"""

from __future__ import annotations

from math import erf, exp, pi, sqrt

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.drawing.unit import CUT, TRUNCATED_STD  # noqa: E402
from autoinit.core.drawing.words import name_seed  # noqa: E402

DISTRIBUTIONS = ("truncated_normal", "normal", "uniform", "orthogonal")
KURTOSIS = {"normal": 3.0, "uniform": 1.8}


def initialized(distribution: str, seed: int = 0) -> tuple[torch.Tensor, float]:
    model = nn.Linear(512, 512)
    plan = autoinit.initialize(model, (4, 512), distribution=distribution, seed=seed)
    return model.weight.detach().double(), plan["weight"].std


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_standard_deviation_and_mean(distribution: str) -> None:
    values, std = initialized(distribution)
    assert std == pytest.approx(512**-0.5, rel=1e-6)
    n = values.numel()
    assert float(values.std()) == pytest.approx(std, rel=5 / sqrt(2 * n))
    assert abs(float(values.mean())) < 5 * std / sqrt(n)


def test_truncation_is_at_two_and_corrected() -> None:
    """A unit normal cut at c has variance 1 - 2 c phi(c) / (2 Phi(c) - 1)."""
    share = erf(CUT / sqrt(2))
    assert pytest.approx(sqrt(1 - 2 * CUT * exp(-(CUT**2) / 2) / sqrt(2 * pi) / share)) == TRUNCATED_STD
    assert pytest.approx(0.8796, abs=1e-4) == TRUNCATED_STD
    values, std = initialized("truncated_normal")
    parent = std / TRUNCATED_STD
    assert float(values.abs().max()) <= CUT * parent * (1 + 1e-6)
    # Inside it is normal: the share within one parent deviation is erf(1/sqrt 2) / erf(2/sqrt 2).
    inside = float((values.abs() < parent).double().mean())
    expected = erf(1 / sqrt(2)) / share
    assert inside == pytest.approx(expected, abs=5 * sqrt(expected * (1 - expected) / values.numel()))


@pytest.mark.parametrize("distribution", KURTOSIS)
def test_shape_of_the_distribution(distribution: str) -> None:
    values, _ = initialized(distribution)
    z = values / values.std()
    error = float(z.pow(4).std()) / sqrt(values.numel())
    assert float(z.pow(4).mean()) == pytest.approx(KURTOSIS[distribution], abs=5 * error)


# --- seeds -------------------------------------------------


class Pair(nn.Module):
    def __init__(self, first_registered: str) -> None:
        super().__init__()
        for name in ("a", "b") if first_registered == "a" else ("b", "a"):
            setattr(self, name, nn.Linear(32, 32))

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def values_of(model: nn.Module) -> dict[str, torch.Tensor]:
    return {n: p.detach().clone() for n, p in model.named_parameters()}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_same_seed_same_weights_whatever_the_order(distribution: str) -> None:
    draws = []
    for order in ("a", "b"):
        model = Pair(order)
        torch.manual_seed(len(draws))  # the global generator plays no part
        autoinit.initialize(model, (4, 32), seed=7, distribution=distribution)
        draws.append(values_of(model))
    assert list(draws[0]) != list(draws[1])
    for name, values in draws[0].items():
        assert torch.equal(values, draws[1][name]), name
    autoinit.initialize(model, (4, 32), seed=8, distribution=distribution)
    assert not torch.equal(model.a.weight, draws[1]["a.weight"])


def test_other_parameters_do_not_matter() -> None:
    small, large = Pair("a"), nn.Module()
    large = Pair("a")
    large.c = nn.Linear(32, 32)
    large.forward = lambda x: large.c(Pair.forward(large, x))  # type: ignore[method-assign]
    autoinit.initialize(small, (4, 32))
    autoinit.initialize(large, (4, 32))
    assert torch.equal(small.b.weight, large.b.weight)


def test_names_are_independent() -> None:
    model = Pair("a")
    autoinit.initialize(model, (4, 32))
    a, b = (m.weight.detach().double().flatten() for m in (model.a, model.b))
    correlation = float(np.corrcoef(a.numpy(), b.numpy())[0, 1])
    assert abs(correlation) < 5 / sqrt(a.numel())
    assert len({name_seed(s, n, k) for s in range(5) for n in "abc" for k in range(3)}) == 45


def test_parts_of_one_parameter_are_independent() -> None:
    class Cross(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(64, 4, batch_first=True)

        def forward(self, q, k):
            return self.attention(q, k, k + 0)[0]

    model = Cross()
    plan = autoinit.initialize(model, [(4, 6, 64), (4, 5, 64)])
    assert len(plan["attention.in_proj_weight"].parts) == 3
    q, k, v = model.attention.in_proj_weight.detach().double().chunk(3)
    for a, b in ((q, k), (q, v), (k, v)):
        assert abs(float(np.corrcoef(a.flatten(), b.flatten())[0, 1])) < 5 / 64


def test_seed_of_apply_wins() -> None:
    model, other = Pair("a"), Pair("a")
    plan = autoinit.plan(model, (4, 32), seed=1)
    plan.apply(model, seed=2)
    autoinit.initialize(other, (4, 32), seed=2)
    assert torch.equal(model.a.weight, other.a.weight)


# --- precision and memory -------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_low_precision_is_rounded_single_precision(dtype: torch.dtype, distribution: str) -> None:
    single, model = nn.Linear(64, 64), nn.Linear(64, 64, dtype=dtype)
    for m in (single, model):
        autoinit.initialize(m, (4, 64), distribution=distribution)
    assert model.weight.dtype is dtype
    if dtype is not torch.float64:
        assert torch.equal(model.weight, single.weight.to(dtype))
    else:
        assert float(model.weight.detach().std()) == pytest.approx(1 / 8, rel=5 / sqrt(2 * 64 * 64))


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_memory_format_does_not_matter(distribution: str) -> None:
    plain, strided = nn.Conv2d(8, 16, 3), nn.Conv2d(8, 16, 3).to(memory_format=torch.channels_last)
    for model in (plain, strided):
        autoinit.initialize(model, (2, 8, 6, 6), distribution=distribution)
    assert torch.equal(plain.weight, strided.weight)
    assert strided.weight.is_contiguous(memory_format=torch.channels_last)


# --- orthogonal -------------------------------------------------


def orthogonal_rows(matrix: torch.Tensor, std: float) -> None:
    """W W^T (or W^T W, whichever is smaller) = std^2 max(rows, columns) I."""
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    expected = std**2 * small.shape[1] * torch.eye(small.shape[0])
    torch.testing.assert_close(small @ small.T, expected, atol=1e-4 * float(expected.max()), rtol=0)


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (64, 512), (512, 64), (1, 32), (32, 1)])
def test_orthogonal_dense(rows: int, columns: int) -> None:
    model = nn.Linear(columns, rows)
    plan = autoinit.initialize(model, (4, columns), distribution="orthogonal")
    orthogonal_rows(model.weight.detach(), plan["weight"].std)
    assert plan["weight"].std == pytest.approx(columns**-0.5, rel=1e-6)


@pytest.mark.parametrize(
    ("layer", "matrix"),
    [
        (nn.Conv2d(16, 32, 3), lambda w: [w.flatten(1)]),
        (nn.Conv2d(16, 32, 3, groups=4), lambda w: list(w.flatten(1).chunk(4))),
        (nn.Conv2d(64, 64, 3, groups=64), lambda w: list(w.flatten(1).chunk(64))),
        (nn.ConvTranspose2d(16, 32, 3), lambda w: [w.transpose(0, 1).flatten(1)]),
    ],
)
def test_orthogonal_convolutions(layer: nn.Module, matrix) -> None:
    plan = autoinit.initialize(layer, (2, layer.in_channels, 6, 6), distribution="orthogonal")
    for part in matrix(layer.weight.detach()):
        orthogonal_rows(part, plan["weight"].std)


def test_orthogonal_depthwise_keeps_the_variance() -> None:
    """64 channels of 9 taps each: the output has variance 1, not 64."""
    layer = nn.Conv2d(64, 64, 3, groups=64)
    autoinit.initialize(layer, (32, 64, 8, 8), distribution="orthogonal")
    x = torch.randn(32, 64, 8, 8, generator=torch.Generator().manual_seed(0))
    assert float(layer(x).var()) == pytest.approx(1.0, rel=5 * sqrt(2 / 64))


class PerHead(nn.Module):
    """An einsum weight (features, heads, features per head)."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, 4, 8))

    def forward(self, x):
        return torch.einsum("bnd,dhk->bhnk", x, self.weight)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_einsum_layout(distribution: str) -> None:
    model = PerHead()
    plan = autoinit.initialize(model, (4, 6, 32), distribution=distribution)
    assert plan["weight"].std == pytest.approx(32**-0.5, rel=1e-6)
    if distribution == "orthogonal":
        orthogonal_rows(model.weight.detach().flatten(1).T, plan["weight"].std)


def test_transposed_weight_of_a_matmul() -> None:
    class MatMul(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(32, 128))

        def forward(self, x):
            return x @ self.weight

    model = MatMul()
    plan = autoinit.initialize(model, (4, 32), distribution="orthogonal")
    assert plan["weight"].std == pytest.approx(32**-0.5, rel=1e-6)  # the fan is 32, not 128
    orthogonal_rows(model.weight.detach().T, plan["weight"].std)


# --- all or nothing -------------------------------------------------


def test_apply_is_all_or_nothing() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8))
    plan = autoinit.plan(model, (4, 8))
    plan["2.weight"].parts[0].kind = "nonsense"
    before = values_of(model)
    with pytest.raises(autoinit.AutoInitError, match="nonsense"):
        plan.apply(model)
    for name, values in values_of(model).items():
        assert torch.equal(values, before[name])


def test_apply_keeps_the_parameter_object_and_its_gradient() -> None:
    model = nn.Linear(8, 8)
    model.weight.grad = torch.ones(8, 8)
    identity, version = id(model.weight), model.weight._version
    autoinit.initialize(model, (4, 8))
    assert id(model.weight) == identity and model.weight._version > version
    assert torch.equal(model.weight.grad, torch.ones(8, 8)) and model.weight.is_leaf


@pytest.mark.parametrize("distribution", ["truncated_normal", "normal", "uniform"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_exact_weights(distribution, dtype):
    """exact=True: mean zero and the planned standard deviation to rounding, not only on average."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Linear(32, 16)).to(dtype)
    plan = autoinit.initialize(model, autoinit.Input((8, 64)), distribution=distribution, exact=True)
    rounding = 1e-5 if dtype is torch.float32 else 5e-3
    for k in (0, 1):
        w, std = model[k].weight.detach().double(), plan[f"{k}.weight"].parts[0].std
        assert float(w.std(correction=0)) == pytest.approx(std, rel=rounding)
        assert abs(float(w.mean())) < rounding * std
