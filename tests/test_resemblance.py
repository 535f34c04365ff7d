"""The same weights on similar inputs make similar outputs: sums of them grow faster than those of strangers."""

import numpy as np
import pytest
import torch
from torch import nn

import autoinit


def output_variances(net, shape, seeds=12):
    """(predicted, median measured) of the model's output."""
    plan = autoinit.plan(net, shape)
    found = []
    for seed in range(seeds):
        plan.apply(net, seed=seed)
        torch.manual_seed(seed)
        with torch.no_grad():
            found.append(float(net(torch.randn(*shape)).var()))
    return plan.tensors[plan.outputs[0]].tensor_variance, float(np.median(found))


class Refine(nn.Module):
    """An estimate that the same head updates again and again, around a grid that is made anew each time."""

    def __init__(self, steps, conv=False):
        super().__init__()
        self.steps, self.conv = steps, conv
        self.head = nn.Conv1d(128, 16, 3, padding=1) if conv else nn.Linear(128, 16)
        self.state = nn.Conv1d(128, 128, 3, padding=1) if conv else nn.Linear(128, 128)
        self.gate = nn.Conv1d(128, 128, 3, padding=1) if conv else nn.Linear(128, 128)

    def grid(self, like):
        return torch.arange(like, dtype=torch.float32) * 10

    def forward(self, h):
        where = self.grid(16 if not self.conv else h.shape[-1])
        for _ in range(self.steps):
            z = torch.sigmoid(self.gate(h))
            h = (1 - z) * h + z * torch.tanh(self.state(h))
            where = where + self.head(torch.relu(h))
        return where - self.grid(16 if not self.conv else h.shape[-1])


@pytest.mark.parametrize("steps", [1, 4, 12])
def test_refinement_with_shared_weights(steps):
    predicted, measured = output_variances(Refine(steps), (64, 128))
    assert 0.6 < predicted / measured < 1.6, (predicted, measured)


def test_refinement_with_shared_convolutions():
    predicted, measured = output_variances(Refine(4, conv=True), (8, 128, 32))
    assert 0.5 < predicted / measured < 2.0, (predicted, measured)


class Twice(nn.Module):
    """W x + W x', where x' shares a part of x."""

    def __init__(self, share):
        super().__init__()
        self.share = share
        self.w = nn.Linear(256, 64)

    def forward(self, x):
        a, b, c = x.split([self.share, 256 - self.share, 256 - self.share], dim=-1)
        return self.w(torch.cat([a, b], -1)) + self.w(torch.cat([a, c], -1))


@pytest.mark.parametrize("share", [64, 128, 192])
def test_pieces_in_common(share):
    """E[(Wx + Wx')²] = 2 + 2·share/256 for variance one."""
    net = Twice(share)
    plan = autoinit.plan(net, (4096, 512 - share))
    assert plan.tensors[plan.outputs[0]].variance == pytest.approx(2 + 2 * share / 256, rel=1e-6)


def test_different_weights_stay_strangers():
    class Strangers(nn.Module):
        def __init__(self):
            super().__init__()
            self.v, self.w = nn.Linear(256, 64), nn.Linear(256, 64)

        def forward(self, x):
            return self.v(x) + self.w(x)

    plan = autoinit.plan(Strangers(), (64, 256))
    assert plan.tensors[plan.outputs[0]].variance == pytest.approx(2.0, rel=1e-6)


def test_equal_constants_cancel():
    class Grid(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Linear(32, 16)

        def forward(self, x):
            return (self.w(x) + torch.arange(16.0) * 100) - torch.arange(16.0) * 100

    plan = autoinit.plan(Grid(), (64, 32))
    assert plan.tensors[plan.outputs[0]].variance == pytest.approx(1.0, rel=1e-3)
