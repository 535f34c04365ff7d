"""Forty 3x3 'same' convolutions in a chain: padding borders grow inwards, nothing normalises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn

from .spec import Spec


def plain_cnn(activation: Callable[[], nn.Module], depth: int = 40, width: int = 96) -> nn.Sequential:
    """``depth`` convolutions of equal width, each followed by the activation, then a linear head."""
    layers: list[nn.Module] = []
    for i in range(depth):
        layers += [nn.Conv2d(width if i else 3, width, 3, padding="same"), activation()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


SPECS = tuple(
    Spec(f"cnn40_{name}", partial(plain_cnn, activation), ((8, 3, 16, 16),), f"40 plain convolutions, {name}")
    for name, activation in (("relu", nn.ReLU), ("gelu", nn.GELU), ("tanh", nn.Tanh))
)
