"""Cases that a naive analytic initializer gets wrong, through the public API.

Each expected number was measured on a real layer and is given to two or three digits. `case` predicts and measures
in one go: the prediction has to meet the true number to `digits` (its rounding and sampling), and the measurement
has to meet the prediction to the sampling error of its own, five standard errors over repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from tests.wrapped_functions import Call  # noqa: E402

REPEATS = 12


class Beside(nn.Module):
    """A layer without parameters, next to a parameter that it does not use: models without any are refused."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.spare = layer, nn.Parameter(torch.ones(1))

    def forward(self, *inputs: Any) -> Any:
        return self.layer(*inputs)


def with_parameters(model: nn.Module) -> nn.Module:
    return model if any(True for _ in model.parameters()) else Beside(model)


def last(model: nn.Module, inputs: Any, **options: Any) -> autoinit.core.plan.plan.TensorPlan:
    """The prediction for the model's output, weights as they are."""
    plan = autoinit.check(with_parameters(model), inputs, **options)
    return plan.tensors[plan.outputs[0]]


def measured(model: nn.Module, inputs: Any, repeats: int = REPEATS, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the model's output, one number per repeat."""
    model = with_parameters(model)
    found = [autoinit.measure(model, inputs, **{**options, "seed": k}).rows[-1] for k in range(repeats)]
    return np.array([r.mean for r in found]), np.array([r.variance for r in found])


def near(values: np.ndarray, expected: float, model_error: float = 0.0) -> None:
    """The mean of the repeats lies within five of its standard errors (and the stated share) of `expected`."""
    slack = 5 * values.std(ddof=1) / np.sqrt(len(values)) + model_error * abs(expected) + 1e-6
    assert abs(values.mean() - expected) <= slack, (values.mean(), expected, slack)
    assert abs(expected) < 1e-9 or slack <= 0.4 * abs(expected), f"{slack} for {expected}: would accept anything"


def case(
    model: nn.Module, inputs: Any, variance: float | None = None, mean: float | None = None, *,
    digits: float = 0.01, model_error: float = 0.0, **options: Any,
) -> None:  # fmt: skip
    """Prediction against the true numbers, and the real layer against the prediction."""
    row = last(model, inputs, **options)
    if variance is not None:
        assert row.variance == pytest.approx(variance, abs=digits * max(abs(variance), 1e-12))
    if mean is not None:
        assert row.mean == pytest.approx(mean, abs=digits * max(abs(mean), 1.0))
    means, variances = measured(model, inputs, **options)
    near(variances, row.tensor_variance, model_error)
    near(means, row.mean, model_error)


def second_moments(model: nn.Module, inputs: Any, seeds: int = 8, **options: Any) -> tuple[np.ndarray, Any]:
    """E[y^2] of every weight layer after `initialize`, (seeds, layers), and the plan."""
    plan = autoinit.plan(model, inputs, **options)
    found = []
    for seed in range(seeds):
        plan.apply(model, seed=seed)
        rows = autoinit.measure(model, inputs, seed=seed).weight_layers
        found.append([r.variance + r.mean**2 for r in rows])
    return np.array(found), plan


def all_near_one(found: np.ndarray, model_error: float = 0.0) -> None:
    for layer in found.T:
        near(layer, 1.0, model_error)


# --- pooling --------------------------------------------------------------------------------------


def test_global_average_pooling_after_a_conv_stack() -> None:
    """Naive: 0.001 instead of 0.5 after the pooling, so that the next dense layer comes out at 584.

    10 %: a finite width makes positions more alike than the prediction says.
    """
    convs = [m for k in range(4) for m in (nn.Conv2d(3 if k == 0 else 64, 64, 3, padding=1), nn.ReLU())]
    model = nn.Sequential(*convs, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 128))
    shape = (8, 3, 12, 12)
    plan = autoinit.plan(model, shape)
    found = []
    for seed in range(64):
        plan.apply(model, seed=seed)
        with torch.no_grad():
            x = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
            found.append(float(model(x).square().mean()))
    near(np.array(found), 1.0, 0.1)
    pooled = next(t for t in plan.tensors if t.shape == [8, 64, 1, 1])
    naive = next(t for t in plan.tensors if t.module == "7").variance / 144
    assert pooled.second > 50 * naive


def test_average_of_normalised_tokens() -> None:
    """Correlated tokens survive the average over 64 of them: 0.159 where independence says 0.016."""
    model = nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), Call(lambda x: x.mean(1)))
    inputs = Input((8, 64, 32), correlation={1: 0.145})
    autoinit.initialize(model, inputs)
    assert last(model, inputs).variance == pytest.approx(0.159, rel=0.05)
    _, variances = measured(model, inputs)
    near(variances, last(model, inputs).tensor_variance, 0.03)


def test_max_pool_of_relu() -> None:
    """Two digits of the mean depend on the border of the measured layer: 0.07."""
    model = nn.Sequential(nn.ReLU(), nn.MaxPool2d(3))
    row = last(model, (16, 8, 12, 12))
    assert row.variance == pytest.approx(0.352, abs=0.01) and row.mean == pytest.approx(1.42, abs=0.07)
    means, variances = measured(model, (16, 8, 12, 12))
    near(variances, row.tensor_variance, 0.02)
    near(means, row.mean, 0.005)


def test_global_max_pooling() -> None:
    case(nn.AdaptiveMaxPool2d(1), (64, 16, 16, 16), 0.153, 2.82, digits=0.03)


# --- dropout --------------------------------------------------------------------------------------


def test_dropout_of_a_mean() -> None:
    case(nn.Dropout(0.5), Input((64, 256), mean=2.0), 6.02)


def test_dropout_of_relu() -> None:
    case(nn.Sequential(nn.ReLU(), nn.Dropout(0.5)), (64, 256), 0.84)


def test_heavy_dropout_between_dense_layers() -> None:
    """Four times [dense, relu, dropout 0.8, dense]: 3.1 if the noise of the mean is forgotten."""
    blocks = [nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.8), nn.Linear(256, 256)) for _ in range(4)]
    found, _ = second_moments(nn.Sequential(*blocks), (64, 256), seeds=12)
    all_near_one(found)
    assert found.std() < 0.5, "the test would accept anything"


# --- borders --------------------------------------------------------------------------------------


def test_zero_padding_of_a_mean() -> None:
    case(nn.ZeroPad2d(2), Input((32, 16, 4, 4), mean=2.0), 1.0)


@pytest.mark.parametrize(("pixels", "true"), [(1, 0.11), (2, 0.44), (4, 0.70), (8, 0.84), (32, 0.96)])
def test_same_convolution_on_small_maps(pixels: int, true: float) -> None:
    """With the nominal fan it loses what the border takes; a plan makes up for it."""
    conv = nn.Conv2d(64, 64, 3, padding=1, bias=False)
    torch.manual_seed(0)
    nn.init.normal_(conv.weight, std=(64 * 9) ** -0.5)
    # one draw of 36864 weights; on one pixel only 4096 of them count: sqrt(2/4096) = 2 %, five of these
    assert last(conv, (16, 64, pixels, pixels)).second == pytest.approx(true, rel=0.02, abs=0.01)
    found, _ = second_moments(conv, (16, 64, pixels, pixels))
    all_near_one(found)


def test_dilated_same_convolution() -> None:
    conv = nn.Conv2d(32, 64, 3, padding="same", dilation=6, bias=False)
    nn.init.normal_(conv.weight, std=(32 * 9) ** -0.5, generator=torch.Generator().manual_seed(0))
    assert last(conv, (8, 32, 16, 16)).second == pytest.approx(0.57, abs=0.02)
    all_near_one(second_moments(conv, (8, 32, 16, 16))[0])


def test_bilinear_upsampling() -> None:
    """White noise of 5 px doubled: (7/10)^2."""
    case(nn.Upsample(scale_factor=2, mode="bilinear"), (32, 16, 5, 5), 0.49)


# --- softmax --------------------------------------------------------------------------------------


def test_softmax_after_a_dense_layer() -> None:
    """Input of variance 100: the layer is scaled to logits of variance 1, not the softmax to saturation.

    One draw of 64 x 10 weights: the variance of its logits scatters by sqrt(2/640), which a plan does not see.
    """
    model = nn.Sequential(nn.Linear(64, 10), nn.Softmax(-1))
    inputs = Input((256, 64), variance=100.0)
    plan = autoinit.plan(model, inputs)
    row = plan.tensors[plan.outputs[0]]
    assert row.variance == pytest.approx(0.0092, abs=0.0004) and row.mean == pytest.approx(0.1)
    found = []
    for seed in range(REPEATS):
        plan.apply(model, seed=seed)
        found.append(autoinit.measure(model, inputs, seed=seed).rows[-1].variance)
    near(np.array(found), row.tensor_variance, 0.02)


def test_softmax_over_the_last_axis_of_a_sequence() -> None:
    row = last(nn.Softmax(-1), (8, 20, 10))
    assert row.mean == pytest.approx(0.1, rel=1e-9)


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model, shape", [
    (nn.Conv2d(64, 64, 3, padding=1, groups=64), (8, 64, 8, 8)),
    (nn.Linear(64, 512), (64, 64)),
    (nn.Linear(512, 64), (64, 512)),
    (nn.Conv2d(16, 64, 3), (8, 16, 8, 8)),
])  # fmt: skip
def test_orthogonal_weights(model: nn.Module, shape: tuple[int, ...]) -> None:
    """A depthwise kernel has one row of taps per channel (naive: 64); 64 -> 512 has more rows than columns (0.125)."""
    all_near_one(second_moments(model, shape, distribution="orthogonal")[0])


def test_memory_format_changes_nothing() -> None:
    model = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 4, 3, padding=1))
    first = autoinit.plan(model, (4, 8, 6, 5))
    again = autoinit.plan(model.to(memory_format=torch.channels_last), (4, 8, 6, 5))
    assert [t.second for t in again.tensors] == pytest.approx([t.second for t in first.tensors], rel=1e-12)


def test_ones_as_bias() -> None:
    model = nn.Linear(128, 128)
    autoinit.initialize(model, (64, 128))
    nn.init.ones_(model.bias)
    case(model, (64, 128), mean=1.0, model_error=0.1)


def test_two_inputs_of_different_variance() -> None:
    """One scalar for both puts the dense layer behind the second at 50."""
    model = Call(lambda a, b, one, two: one(a) + two(b), one=nn.Linear(64, 64), two=nn.Linear(64, 64))
    found, plan = second_moments(model, (Input((64, 64)), Input((64, 64), variance=100.0)))
    all_near_one(found)
    assert plan["one.weight"].std == pytest.approx(10 * plan["two.weight"].std)


# --- activations ----------------------------------------------------------------------------------


def parametric() -> nn.Module:
    layer = nn.PReLU()
    nn.init.ones_(layer.weight)
    return layer


@pytest.mark.parametrize(("layer", "true"), [
    (nn.LeakyReLU(0.5), 0.58), (nn.Hardtanh(0.0, 0.5), 0.052), (nn.ELU(3.0), 1.71), (parametric(), 1.0),
    (nn.ReLU(), 0.34), (nn.ELU(), 0.62),
])  # fmt: skip
def test_slopes_and_limits(layer: nn.Module, true: float) -> None:
    case(layer, (64, 256), true, digits=0.02)


@pytest.mark.parametrize(("layer", "mean", "variance", "expected"), [
    (nn.ReLU(), 100.0, 1.0, (100.0, 1.0)),
    (nn.Sigmoid(), 50.0, 1.0, (1.0, 0.0)),
    (nn.Tanh(), 30.0, 1.0, (1.0, 0.0)),
    (nn.ReLU(), 0.0, 1e12, (3.99e5, 3.4e11)),
])  # fmt: skip
def test_extreme_gaussians(layer: nn.Module, mean: float, variance: float, expected: tuple[float, float]) -> None:
    row = last(layer, Input((64, 64), mean=mean, variance=variance))
    assert row.mean == pytest.approx(expected[0], rel=0.005)
    assert row.variance == pytest.approx(expected[1], rel=0.005, abs=1e-9)
    assert row.variance >= 0.0


# --- norms ----------------------------------------------------------------------------------------


def batch_norm(gamma: float = 1.0) -> nn.BatchNorm1d:
    layer = nn.BatchNorm1d(64, eps=1e-3)
    nn.init.constant_(layer.weight, gamma)
    return layer


def test_batch_norm_with_gamma_zero() -> None:
    case(batch_norm(0.0), (64, 64), 0.0)


def test_batch_norm_of_a_small_signal() -> None:
    """Variance 1e-4 against epsilon 1e-3: 1/11."""
    case(batch_norm(), Input((256, 64), variance=1e-4), 0.09, digits=0.02, model_error=0.01)


def test_batch_norm_in_evaluation_mode() -> None:
    case(batch_norm().eval(), Input((64, 64), variance=100.0), 99.9, training=False)


# --- merging --------------------------------------------------------------------------------------

MERGES: list[tuple[str, Callable[[Any], Any], float, float]] = [
    ("h + h", lambda h: h + h, 4.0, 0.01),
    ("h + relu(h)", lambda h: h + h.relu(), 2.31, 0.02),
    ("h - h", lambda h: h - h, 0.0, 0.0),
    ("mean of h and h", lambda h: torch.stack([h, h]).mean(0), 1.0, 0.01),
    ("relu(h) relu(h)", lambda h: h.relu() * h.relu(), 1.33, 0.07),  # 1.25 exactly: the table's is one sample
]


@pytest.mark.parametrize(("name", "function", "true", "digits"), MERGES, ids=[m[0] for m in MERGES])
def test_a_tensor_with_itself(name: str, function: Callable[[Any], Any], true: float, digits: float) -> None:
    case(Call(function), (64, 256), true, digits=max(digits, 1e-9))


@pytest.mark.parametrize(("function", "true"), [(lambda x: x * 5, 25.0), (lambda x: x / 5, 0.04)])
def test_constants_in_the_graph(function: Callable[[Any], Any], true: float) -> None:
    case(Call(function), (64, 256), true)
