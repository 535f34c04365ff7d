"""Gradients of small networks, tensor by tensor and weight by weight, against automatic differentiation.

Every network isolates one law of the adjoints. The mean over draws of what is measured lies within `SIGMAS` standard
errors of the prediction, plus a stated model error (a share of the prediction) where the law is of first order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import autoinit
from autoinit.core.backward.law import Own
from autoinit.core.graph.graph import Node, Value
from autoinit.core.signal.marginal import points_of
from autoinit.core.signal.signal import iid
from autoinit.frontends.torch.gradients import gradients
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.rules.adjoint.convolution import known_of_input

SIGMAS = 5.0


def check(model: nn.Module, shape: Any, names: list[str], draws: int, model_error: float) -> None:
    """The second moments of these weights' gradients."""
    plan, runs = autoinit.plan(model, shape, gradients=True, warn=False), []
    for seed in range(draws):
        plan.apply(model, seed=seed, warn=False)
        args, kwargs = call_arguments(shape)
        runs.append(gradients(model, args, kwargs, training=True, seed=1000 + seed))
    for name in names:
        samples, predicted = np.array([run[name] for run in runs]), plan.gradients[name].second
        error = float(samples.std(ddof=1)) / draws**0.5
        assert samples.mean() == pytest.approx(predicted, abs=SIGMAS * error + model_error * predicted), name


def norm_chain(width: int, kernel: int, groups: int, layers: int) -> nn.Sequential:
    made: list[nn.Module] = [nn.Conv2d(8, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    for _ in range(layers):
        conv = nn.Conv2d(width, width, kernel, padding=kernel // 2, bias=False, groups=groups)
        made += [conv, nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*made)


def test_norms_behind_convolutions_do_not_drift() -> None:
    """Local variances are averaged over windows: six layers were predicted 1.29 times too small."""
    check(norm_chain(16, 3, 1, 6), (8, 8, 16, 16), ["0.weight", "9.weight"], 30, 0.1)


def test_a_depthwise_weight_cancels_in_the_statistic_after_it() -> None:
    """Nine inputs: |w|^2/s of one channel scatters far less than 1/s does. At 4 x 4 not every tap is live."""
    check(norm_chain(64, 3, 64, 3), (8, 8, 4, 4), ["0.weight"], 30, 0.1)


class PostActivation(nn.Module):
    """relu(x + branch(x)), twice: of what x gets, one term knows its entry, and the other one does not."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(8, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
        self.branches = nn.ModuleList(
            nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)) for _ in range(2)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.stem(x))
        for branch in self.branches:
            x = torch.relu(x + branch(x))
        return x.mean((2, 3))


def test_terms_that_know_their_entry_are_apart_from_those_that_do_not() -> None:
    """What places have in common of a gradient: measured on x, behind the mask of relu."""
    model, shape = PostActivation(64), (8, 8, 8, 8)
    check(model, shape, ["stem.0.weight"], 30, 0.06)


class Rows(nn.Module):
    """Attention's layout: (batch, tokens) are one axis in front of the layer and two behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(256, 256), nn.Linear(256, 256)

    def forward(self, x: Tensor, common: Tensor) -> Tensor:
        h = torch.relu(self.first(x + 2.0 * common))
        rows = self.second(h.reshape(-1, h.shape[-1])).reshape(h.shape)
        return rows.mean(1)


def test_rows_of_one_sample_are_more_alike_than_rows_of_two() -> None:
    """A mean over tokens sends one gradient to all tokens of a sample, and none to those of another."""
    check(Rows(), ((6, 24, 256), (6, 1, 256)), ["first.weight", "second.weight"], 30, 0.02)


def test_slopes_by_borders_are_those_of_small_signals() -> None:
    """tanh: where taps are dead the signal is small, and the slope is nearly one."""
    layers = [layer for _ in range(8) for layer in (nn.Conv2d(48, 48, 3, padding=1), nn.Tanh())]
    model = nn.Sequential(nn.Conv2d(3, 48, 3, padding=1), nn.Tanh(), *layers, nn.AdaptiveAvgPool2d(1))
    check(model, (4, 3, 8, 8), ["0.weight", "2.weight", "8.weight"], 30, 0.04)


class ClassToken(nn.Module):
    """The head sees the class token alone, which is smaller than the tokens beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, 48))
        self.inner, self.outer, self.head = nn.Linear(48, 192), nn.Linear(192, 48), nn.Linear(48, 10)
        self.mix = nn.Linear(48, 48)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1)
        x = x + 0.5 * self.mix(x).mean(1, keepdim=True)
        x = x + self.outer(nn.functional.gelu(self.inner(x)))
        return torch.as_tensor(self.head(x[:, 0]))


def test_a_class_token_is_as_small_as_it_is() -> None:
    check(ClassToken(), (8, 32, 48), ["inner.weight"], 30, 0.25)


def test_slopes_behind_a_depthwise_convolution_know_its_inputs() -> None:
    """g = h a(y) of a normalised y = w.x/|w| of nine entries: E[w_1^2 a(y)^2 | x_1] by samples."""
    x, y = iid((8, 64, 16, 16), 0.0, 1.0), iid((8, 64, 16, 16), 0.0, 1.0)
    shapes = {"x_axes": (0, 1, 2, 3), "w_axes": (0, 1, 2, 3), "stride": (1, 1), "dilation": (1, 1)}
    padded = {"padding": ((1, 1), (1, 1)), "groups": 64}
    values = (Value(0, x.shape), Value(1, (64, 1, 3, 3)))
    node = Node("conv", values, (Value(2, y.shape),), {**shapes, **padded})
    slopes = np.clip(points_of(y) / 3.0 + 0.5, 0.0, 1.0)
    own = Own.of(slopes**2, slopes)
    assert own is not None
    found = known_of_input(node, x, y, own)
    assert found is not None
    rng = np.random.default_rng(0)
    w, entries = rng.standard_normal((2, 400_000, 9))
    w /= np.sqrt(np.square(w).sum(axis=1, keepdims=True))
    square = np.square(w[:, 0] * np.clip((w * entries).sum(axis=1) / 3.0 + 0.5, 0.0, 1.0))
    edges = np.quantile(entries[:, 0], np.linspace(0.0, 1.0, 9))
    for k in range(8):
        inside = (entries[:, 0] >= edges[k]) & (entries[:, 0] <= edges[k + 1])
        expected, error = square[inside].mean() / square.mean(), square[inside].std() / inside.sum() ** 0.5
        assert found.squares.reshape(8, -1).mean(axis=1)[k] == pytest.approx(
            expected, abs=SIGMAS * error / square.mean() + 0.01
        )


@pytest.mark.parametrize("model, shape", [(norm_chain(16, 3, 1, 2), (8, 8, 8, 8)), (ClassToken(), (8, 32, 48))])
def test_standard_deviations_are_those_of_the_plan_without_gradients(model: nn.Module, shape: Any) -> None:
    plans = [autoinit.plan(model, shape, gradients=wanted, warn=False) for wanted in (False, True)]
    with_them, without = ({p.name: p.std for p in plan.parameters} for plan in plans)
    assert with_them == without
    assert [t.tensor_variance for t in plans[0].tensors] == [t.tensor_variance for t in plans[1].tensors]
    assert plans[0].notes == plans[1].notes
