"""Small networks, digits, and a plain training loop."""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F


def digits(samples: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
    data = load_digits()
    x = torch.tensor(data.data[:samples], dtype=torch.float32)
    return (x - x.mean()) / x.std(), torch.tensor(data.target[:samples])


class Net(nn.Module):
    """Norm, dropout, and a weight that belongs to no layer of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(64, 128)
        self.norm = nn.BatchNorm1d(128)
        self.drop = nn.Dropout(0.3)
        self.last = nn.Linear(96, 10)
        self.weight = nn.Parameter(torch.randn(96, 128))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop(self.norm(torch.relu(self.first(x))))
        return self.last(F.gelu(F.linear(x, self.weight)))


def train(model: nn.Module, steps: int, rate: float = 0.05, seed: int = 0, size: int = 64) -> list[float]:
    x, y = digits()
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    losses = []
    for k in range(steps):
        at = (k * size) % len(x)
        loss = F.cross_entropy(model(x[at : at + size]), y[at : at + size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
