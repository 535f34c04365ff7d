"""Adjoints against automatic differentiation of the real op on samples.

Inputs are drawn with the given moments, the op is run on them, gradients with the given law go in at its output, and
every K(S) of what comes out at the input is measured. The prediction has to lie within `SIGMAS` standard errors of the
average over repeats, plus a stated model error (a share of E[g^2]) where the adjoint is no exact one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import autoinit
from autoinit.core.backward.law import Law, summed
from autoinit.core.backward.products import product
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.gaussian.slopes import Slopes
from autoinit.core.gaussian.softmax_moments import flow_moments, pair_moments
from autoinit.core.signal.axis_maps import Windows, copies, mapped_along, spread
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Signal
from autoinit.frontends.torch.gradients import gradients
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.rules.adjoint.attention import through_softmax
from autoinit.rules.adjoint.normalize import through_statistics
from autoinit.rules.adjoint.pointwise import law_through
from autoinit.rules.normalize import by_own_statistics
from tests.rules.harness import components

SIGMAS = 5.0


def measured(x: Signal, g: Signal, run: Callable[[Any], Any], repeats: int = 200) -> tuple[Any, Any]:
    """K of the input's gradient, and its standard error."""
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(repeats):
        entries = torch.from_numpy(sample(x, rng, None)).requires_grad_()
        out = run(entries)
        (found,) = torch.autograd.grad(out, entries, torch.from_numpy(sample(g, rng, None)).reshape(out.shape))
        tables.append(from_array(found.numpy()).K)
    return np.mean(tables, axis=0), np.std(tables, axis=0, ddof=1) / repeats**0.5


def check(predicted: Signal, x: Signal, g: Signal, run: Callable[[Any], Any], model_error: float = 0.0) -> None:
    K, error = measured(x, g, run)
    allowed = SIGMAS * error + (model_error + 1e-6) * float(K.flat[0])
    assert predicted.shape == x.shape
    assert np.all(np.abs(predicted.K - K) <= allowed), f"predicted\n{predicted.K}\nmeasured\n{K}\nallowed\n{allowed}"


GRADIENTS = (
    components((8, 6), 0.0, {(0, 1): 1.0}),
    components((8, 6), 0.0, {(0, 1): 0.5, (1,): 1.0, (0,): 0.3}),
)


@pytest.mark.parametrize("g", GRADIENTS)
@pytest.mark.parametrize("mean, spread_of", [(0.0, {(0, 1): 1.0}), (0.7, {(0, 1): 0.6, (1,): 1.4})])
@pytest.mark.parametrize(
    "f, run",
    [
        (apply("relu", X), torch.relu),
        (apply("tanh", X), torch.tanh),
        (apply("gelu", X), F.gelu),
        (apply("mul", X, apply("sigmoid", X)), lambda x: x * torch.sigmoid(x)),
        (apply("affine", apply("relu", X), params=(2.0, 1.0)), lambda x: 2.0 * torch.relu(x) + 1.0),
    ],
)
def test_functions(f: Any, run: Any, mean: float, spread_of: Any, g: Signal) -> None:
    x = components((8, 6), mean, spread_of)
    check(law_through(x, f, Law(g)).moments, x, g, run)


def test_a_gradient_that_knows_its_entry() -> None:
    """relu(relu(u) + b): the outer slope is a function of u, too."""
    u, b = components((16, 12), 0.0, {(0, 1): 1.0}), components((16, 12), 0.0, {(0, 1): 1.0})
    rng, tables = np.random.default_rng(0), []
    for _ in range(200):
        entries, other = (torch.from_numpy(sample(s, rng, None)) for s in (u, b))
        entries.requires_grad_()
        (found,) = torch.autograd.grad(torch.relu(torch.relu(entries) + other).sum(), entries)
        tables.append(float(found.square().mean()))
    expected = float(np.mean(tables))

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Linear(64, 512, bias=False)
            self.v = nn.Linear(64, 512, bias=False)

        def forward(self, x: Any, y: Any) -> Any:
            return torch.relu(torch.relu(self.w(x)) + self.v(y))

    plan = autoinit.plan(Net(), ((32, 64), (32, 64)), gradients=True, warn=False)
    row = next(t for t in plan.tensors if t.weight == "w.weight")
    assert row.gradient == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("parts, axes, centre", [
    ({(0, 1): 1.0}, (1,), True), ({(0, 1): 1.0}, (0,), False), ({(0, 1): 1.0, (1,): 0.5}, (1,), True),
    ({(0, 1): 1.0, (1,): 0.5}, (1,), False), ({(0, 1): 1.0, (1,): 0.5}, (0,), True),
])  # fmt: skip
def test_normalisation(parts: Any, axes: tuple[int, ...], centre: bool) -> None:
    """The variance of the statistic counts to second order: not where entries under one share most of what they are."""
    x = components((60, 50), 0.0, parts)
    g = components((60, 50), 0.0, {(0, 1): 1.0, (0,): 0.4})

    def run(entries: Any) -> Any:
        if centre:
            entries = entries - entries.mean(dim=axes, keepdim=True)
        return entries / entries.square().mean(dim=axes, keepdim=True).sqrt()

    law = through_statistics(x, by_own_statistics(x, axes, centre, 0.0), axes, centre, 0.0, Law(g))
    check(law.moments, x, g, run, model_error=0.02)


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_softmax(scale: float) -> None:
    x = components((10, 12), 0.0, {(0, 1): 0.5 * scale, (1,): 0.5 * scale})
    g = components((10, 12), 0.0, {(0, 1): 1.0, (0,): 0.5})
    check(through_softmax(x, 1, None, Law(g)).moments, x, g, lambda x: torch.softmax(x, 1), model_error=0.03)


@pytest.mark.parametrize("variance", [0.2, 1.0, 5.0])
def test_the_flow_of_a_softmax_is_the_slope_of_its_pair_moments(variance: float) -> None:
    covs = np.linspace(0.2, 0.8, 4) * variance
    step = 1e-3 * variance
    slope = (pair_moments(20, variance, covs + step) - pair_moments(20, variance, covs - step)) / (2 * step)
    assert flow_moments(20, variance, covs) == pytest.approx(slope, rel=0.15)


@pytest.mark.parametrize("mean", [0.0, 0.5])
def test_slopes_by_monte_carlo(mean: float) -> None:
    rng = np.random.default_rng(0)
    z, e = rng.standard_normal((2, 400_000))
    u, v = mean + z, mean + 0.6 * z + 0.8 * e
    slopes = Slopes(apply("silu", X), X, mean, 1.0)
    product_of = slopes.at(u) * slopes.at(v)
    assert float(slopes.pair(np.array([0.6]))[0]) == pytest.approx(product_of.mean(), abs=5 * product_of.std() / 632)


def test_spread_is_the_transpose_of_windows() -> None:
    g = components((7, 5), 0.0, {(0, 1): 1.0, (1,): 0.4})
    taps = np.array([[0, 1], [1, 2], [2, 3], [4, 5], [5, 6], [0, 6], [3, 4]])
    matrix = np.zeros((7, 9))
    for row, places in enumerate(taps):
        matrix[row, places] += 0.5
    made = mapped_along(g, {0: spread(taps, np.full((7, 2), 0.5), 9)})
    wanted = mapped_along(g, {0: Windows.dense(matrix.T)})
    assert np.allclose(made.K, wanted.K)
    x = components((9, 5), 0.0, {(0, 1): 1.0})
    assert np.allclose(mapped_along(x, {0: copies(np.arange(9))}).K, x.K)


def test_products_count_places_of_unequal_size() -> None:
    """sum_t g_t x_t with both large at the same places."""
    p, q = np.array([4.0, 0.0, 0.0, 0.0]), np.array([2.5, 0.5, 0.5, 0.5])
    K = np.array([1.0, 0.0])
    made = product(["t", "t"], "", [Signal((4,), 0.0, K, profiles=(p,)), Signal((4,), 0.0, K, profiles=(q,))])
    assert made.second == pytest.approx(float(p @ q))


def test_sums_over_what_was_broadcast() -> None:
    g = components((6, 5), 0.0, {(0, 1): 1.0, (1,): 2.0})
    made = summed(g, (1, 5))
    assert made.second == pytest.approx(6 * 3.0 + 6 * 5 * 2.0)


def weight_gradients(model: nn.Module, shapes: Any, draws: int) -> tuple[dict[str, float], dict[str, Any]]:
    plan = autoinit.plan(model, shapes, gradients=True, warn=False)
    runs: list[dict[str, float]] = []
    for seed in range(draws):
        plan.apply(model, seed=seed)
        runs.append(gradients(model, *call_arguments(shapes), training=True, seed=seed))
    names = [row.parameter for row in plan.gradients]
    return {n: plan.gradients[n].second for n in names}, {n: np.array([r[n] for r in runs]) for n in names}


class Residual(nn.Module):
    def __init__(self, before: bool) -> None:
        super().__init__()
        self.before = before
        self.conv1, self.conv2 = nn.Conv2d(16, 16, 3, padding=1), nn.Conv2d(16, 16, 3, padding=1)
        self.norm1, self.norm2 = nn.BatchNorm2d(16), nn.BatchNorm2d(16)

    def forward(self, x: Any) -> Any:
        if self.before:
            return x + self.conv2(torch.relu(self.norm2(self.conv1(torch.relu(self.norm1(x))))))
        return torch.relu(x + self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x))))))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.attention = nn.MultiheadAttention(64, 4, batch_first=True)
        self.inner = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x: Any) -> Any:
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.inner(self.norm2(x))


def convolutions(*middle: nn.Module) -> nn.Module:
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), *middle, *head)


MODELS: dict[str, tuple[Callable[[], nn.Module], Sequence[int]]] = {
    "mlp": (lambda: nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 80), nn.SiLU(), nn.Linear(80, 10)),
            (32, 40)),
    "cnn": (lambda: convolutions(nn.Conv2d(16, 16, 3, padding=1, stride=2), nn.ReLU(), nn.MaxPool2d(2)),
            (8, 3, 16, 16)),
    "pre-activation": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), Residual(True), Residual(True), nn.BatchNorm2d(16), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10),
        ),
        (8, 3, 8, 8),
    ),
    "post-activation": (lambda: convolutions(Residual(False), Residual(False)), (8, 3, 8, 8)),
    "transformer": (lambda: nn.Sequential(nn.Linear(16, 64), Block(), nn.LayerNorm(64), nn.Linear(64, 10)),
                    (8, 20, 16)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_whole_models_against_autograd(name: str) -> None:
    """Weights within 1.35x of the mean over draws, but for what its standard error allows."""
    torch.manual_seed(0)
    make, shape = MODELS[name]
    model = make()
    predicted, seen = weight_gradients(model, tuple(shape), draws=24)
    shapes = {n: p.shape for n, p in model.named_parameters()}
    for parameter in (n for n in predicted if len(shapes[n]) > 1):
        mean, error = seen[parameter].mean(), seen[parameter].std(ddof=1) / 24**0.5
        low, high = (mean - 3 * error) / 1.35, (mean + 3 * error) * 1.35
        assert low <= predicted[parameter] <= high, f"{parameter}: {predicted[parameter]:.4g}, measured {mean:.4g}"


def test_measuring_gradients_leaves_nothing_behind() -> None:
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3))
    state = torch.get_rng_state()
    found = autoinit.measure(model, (8, 12), gradients=True, repeats=2, warn=False)
    assert all(p.grad is None for p in model.parameters())
    assert torch.equal(state, torch.get_rng_state())
    assert all(row.measured is not None and row.measured > 0 for row in found.gradients)


def test_a_plan_keeps_its_gradients_in_a_file_and_says_when_it_has_none() -> None:
    model = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 3))
    plan = autoinit.plan(model, (8, 12), gradients=True, warn=False)
    again = autoinit.Plan.from_dict(plan.to_dict())
    assert list(again.gradients) == list(plan.gradients)
    chi = plan.gradients["2.weight"].chi
    assert chi is not None and chi > 1.0  # tanh without biases is on the chaotic side
    with pytest.raises(autoinit.errors.PlanError, match="no gradients"):
        _ = autoinit.plan(model, (8, 12), warn=False).gradients


def test_check_names_the_first_bad_gradient() -> None:
    model = nn.Sequential(*(layer for _ in range(20) for layer in (nn.Linear(30, 30), nn.Tanh())), nn.Linear(30, 5))
    for parameter in model.parameters():
        parameter.data *= 0.2
    bad = autoinit.check(model, (16, 30), gradients=True, warn=False)
    assert bad.gradients.first_bad is not None and bad.gradients.first_bad.verdict == "vanishing"
    assert "first bad gradient" in str(bad)
    told = [problem for problem in bad.problems if problem.what.startswith("the gradient is vanishing")]
    assert told[0].place == bad.gradients.first_bad.parameter and told[0].severity == "warning"
    good = autoinit.plan(model, (16, 30), gradients=True, warn=False)
    assert good.gradients.first_bad is None and good.ok


class Running(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        return torch.cumprod(self.inner(x), 1)


def test_ops_without_an_adjoint_are_named() -> None:
    plan = autoinit.plan(Running(), (4, 8), gradients=True, warn=False)
    assert any(note.kind == "gradient" and "no adjoint" in note.message for note in plan.notes)


class Read(nn.Module):
    """The mean over time, and the last state."""

    def __init__(self, cell: nn.Module, outputs: int) -> None:
        super().__init__()
        self.inner, self.cell, self.head = nn.Linear(24, 32), cell, nn.Linear(outputs, 10)

    def forward(self, x: Any) -> Any:
        states, _ = self.cell(self.inner(x))
        return self.head(states.mean(dim=1)), states[:, -1]


ONE_PROFILE = pytest.mark.xfail(strict=True, reason="unlike gradients share one profile (docs/gradients.md)")


@pytest.mark.parametrize("cell, outputs", [
    (nn.LSTM(32, 40, num_layers=2, batch_first=True), 40),
    (nn.RNN(32, 40, batch_first=True), 40),
    pytest.param(nn.GRU(32, 40, batch_first=True), 40, marks=ONE_PROFILE),
    pytest.param(nn.LSTM(32, 40, bidirectional=True, proj_size=24, batch_first=True), 48, marks=ONE_PROFILE),
])  # fmt: skip
def test_recurrent_layers_through_time(cell: nn.Module, outputs: int) -> None:
    """The rule is simulated with three draws of 40 samples (its own scatter: some per cent), hence a model error of
    20 % beside three standard errors of the mean over draws."""
    predicted, seen = weight_gradients(Read(cell, outputs), (16, 12, 24), draws=24)
    for name, runs in seen.items():
        mean, error = runs.mean(), runs.std(ddof=1) / 24**0.5
        low, high = (mean - 3 * error) / 1.2, (mean + 3 * error) * 1.2
        assert low <= predicted[name] <= high, f"{name}: {predicted[name]:.4g}, measured {mean:.4g}"


def test_slopes_at_places_of_unlike_size() -> None:
    """relu' at two places asks for the correlation: here 0.7 whatever the sizes are, so E[f' f'] is the orthant
    probability 1/4 + asin(0.7)/(2 pi), and not that of the mean covariance over the mean variance."""
    p = np.linspace(0.1, 1.9, 12)
    pairs = (np.sqrt(p).sum() ** 2 - p.sum()) / (12 * 11)
    x = Signal((12,), 0.0, np.array([1.0, 0.7 * pairs]), profiles=(p,))
    made = law_through(x, apply("relu", X), Law(Signal((12,), 0.0, np.array([1.0, 1.0])))).moments
    rng = np.random.default_rng(0)
    common, own = rng.standard_normal((200_000, 1)), rng.standard_normal((200_000, 2))
    u = np.sqrt(p[[0, 11]]) * (0.7**0.5 * common + 0.3**0.5 * own)
    both = (u > 0).all(axis=1)
    assert float(made.K[1]) == pytest.approx(both.mean(), abs=5 * both.std() / 200_000**0.5)
