"""Deep chains of dense layers."""

from __future__ import annotations

from torch import nn

from .activations import MakeActivation, activation_maker


def mlp(
    activation: str | MakeActivation = "relu",
    *,
    features: int = 784,
    width: int = 512,
    depth: int = 20,
    classes: int = 10,
    dropout: float | None = None,
    input_dropout: float | None = None,
) -> nn.Sequential:
    """Build `depth` dense layers with activations between them.

    dropout: rate behind each activation; input_dropout: rate on the input; None for no such layers.
    """
    make = activation_maker(activation)
    layers: list[nn.Module] = [] if input_dropout is None else [nn.Dropout(input_dropout)]
    for number in range(depth - 1):
        layers += [nn.Linear(width if number else features, width), make(width)]
        layers += [] if dropout is None else [nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear(width if depth > 1 else features, classes))
