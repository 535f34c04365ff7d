"""SE-ResNet for small images (Hu et al., 2018): basic residual blocks whose branch is gated per channel."""

from __future__ import annotations

from torch import nn

from .activations import MakeActivation, activation_maker
from .convolution import convolution
from .residual import Residual, shortcut
from .squeeze_excitation import Average, SqueezeAndExcitation

REDUCTION = 16


def se_resnet(
    activation: str | MakeActivation = "relu",
    *,
    per_stage: int = 3,
    widths: tuple[int, ...] = (64, 128, 256),
    classes: int = 100,
    channels: int = 3,
) -> nn.Sequential:
    """Build a stem, a stage of `per_stage` blocks for each width, an average and a dense head."""
    make = activation_maker(activation)
    layers: list[nn.Module] = [*convolution(channels, widths[0], 3), make(widths[0])]
    inputs = widths[0]
    for stage, width in enumerate(widths):
        for block in range(per_stage):
            stride = 2 if stage and not block else 1
            branch = nn.Sequential(
                *convolution(inputs, width, 3, stride),
                make(width),
                *convolution(width, width, 3),
                SqueezeAndExcitation(width, width // REDUCTION, make, average=Average(keep=False)),
            )
            layers.append(Residual(branch, shortcut(inputs, width, stride), make(width)))
            inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
