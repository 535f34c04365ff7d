"""MobileNets for small images: V2 (Sandler et al., 2018), and with gated channels as in V3 (Howard et al., 2019)."""

from __future__ import annotations

from torch import nn

from .activations import MakeActivation, activation_maker
from .convolution import convolution
from .inverted_residual import InvertedResidual
from .squeeze_excitation import SqueezeAndExcitation

STEM, HEAD = 32, 1280
REDUCTION = 4
STAGES = (
    # expansion, channels, blocks, stride: V2's table with strides for small images
    (1, 16, 1, 1),
    (6, 24, 2, 1),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def mobilenet(
    activation: str | MakeActivation = "relu6",
    *,
    gate: bool = False,
    classes: int = 100,
    channels: int = 3,
    dropout: float = 0.2,
) -> nn.Sequential:
    """Build V2's stages at width 1.

    gate: channels of the inner maps are weighed, through ReLU and a hard sigmoid.
    dropout: rate in front of the dense head.
    """
    make = activation_maker(activation)
    layers: list[nn.Module] = [*convolution(channels, STEM, 3), make(STEM)]
    inputs = STEM
    for expansion, outputs, count, first in STAGES:
        for block in range(count):
            stride = 1 if block else first
            layers.append(InvertedResidual(inputs, outputs, 3, stride, expansion, make, gate=_gate if gate else None))
            inputs = outputs
    layers += [*convolution(inputs, HEAD, 1), make(HEAD), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Dropout(dropout), nn.Linear(HEAD, classes))


def _gate(channels: int) -> nn.Module:
    return SqueezeAndExcitation(channels, channels // REDUCTION, lambda inner: nn.ReLU(), gate=nn.Hardsigmoid)
