"""Weights that are made inside forward: scaled by their gain where they have one, else accounted for."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from tests.drawn_outputs import SEEDS, assert_second_moment, outputs  # noqa: E402


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
