"""Running sums that are divided by their number of terms, or multiplied by any number per place, place by place."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import autoinit
from autoinit.core.signal.signal import Signal
from autoinit.rules.reduce import RunningSum


@pytest.mark.parametrize("factors", ["mean", "uneven"])
def test_against_all_pairs_of_places(factors: str) -> None:
    n, K, mean = 7, np.array([1.3, 0.4]), 0.5
    f = 1.0 / np.arange(1.0, n + 1) if factors == "mean" else np.linspace(-1.0, 2.0, n)
    made = RunningSum(Signal((n,), mean, K), 0, np.ones(n)).scaled(f)
    moments = np.where(np.eye(n, dtype=bool), K[0], K[1])
    a = np.tril(np.ones((n, n))) * f[:, None]
    exact = a @ moments @ a.T
    assert made.mean == pytest.approx(float((a @ np.full(n, mean)).mean()))
    assert made.K[0] == pytest.approx(np.diagonal(exact).mean())
    assert made.K[1] == pytest.approx((exact.sum() - np.trace(exact)) / (n * (n - 1)))
    assert made.profiles[0] == pytest.approx(np.diagonal(exact) / np.diagonal(exact).mean())


class CausalMean(nn.Module):
    """Every token sees the mean of those before it."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(16, 256), nn.Linear(256, 256)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.a(x))
        steps = torch.arange(1, y.shape[1] + 1, dtype=y.dtype)[:, None]
        return self.b(y.cumsum(1) / steps)


def test_a_causal_mean_comes_out_at_the_target() -> None:
    second = []
    for seed in range(12):
        model = CausalMean()
        autoinit.initialize(model, (64, 24, 16), seed=seed, warn=False)
        with torch.no_grad():
            torch.manual_seed(seed)
            second.append(float(model(torch.randn(64, 24, 16)).square().mean()))
    error = np.std(second) / np.sqrt(len(second))
    assert np.mean(second) == pytest.approx(1.0, abs=5 * error + 0.01)
    assert error < 0.05
