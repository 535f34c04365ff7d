"""Convolutions of equal width in a chain: padded borders grow inwards, nothing normalizes."""

from __future__ import annotations

from torch import nn

from .activations import MakeActivation, activation_maker


def plain_cnn(
    activation: str | MakeActivation = "relu",
    *,
    depth: int = 40,
    width: int = 96,
    classes: int = 10,
    channels: int = 3,
) -> nn.Sequential:
    """Build `depth` padded 3 × 3 convolutions, each followed by the activation, an average and a dense head."""
    make = activation_maker(activation)
    layers: list[nn.Module] = []
    for number in range(depth):
        layers += [nn.Conv2d(width if number else channels, width, 3, padding="same"), make(width)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))
