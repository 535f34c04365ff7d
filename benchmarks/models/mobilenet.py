"""MobileNets: inverted residuals around depthwise convolutions.

V2 (Sandler et al., 2018) with ReLU6; the form of V3 (Howard et al., 2019) with hard-swish and gated channels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from .spec import Spec

# expansion, output channels, blocks, stride of the first block: V2's table with CIFAR strides
STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 1),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


class HardGate(nn.Module):
    """Squeeze-and-excite with 1x1 convolutions and a hard sigmoid."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, channels // 4, 1)
        self.excite = nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1))))
        return x * F.hardsigmoid(gate)


def conv_bn(cin: int, cout: int, kernel: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    """A padded convolution without bias, and its batch norm."""
    return [
        nn.Conv2d(cin, cout, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(cout),
    ]


class InvertedResidual(nn.Module):
    """1x1 expansion, 3x3 depthwise, linear 1x1 projection; added to the input where shapes agree."""

    def __init__(
        self,
        cin: int,
        cout: int,
        stride: int,
        expansion: int,
        activation: Callable[[], nn.Module],
        gate: bool,
    ) -> None:
        super().__init__()
        hidden = cin * expansion
        layers: list[nn.Module] = []
        if expansion > 1:
            layers += [*conv_bn(cin, hidden, 1), activation()]
        layers += [*conv_bn(hidden, hidden, 3, stride, groups=hidden), activation()]
        if gate:
            layers.append(HardGate(hidden))
        self.branch = nn.Sequential(*layers, *conv_bn(hidden, cout, 1))
        self.residual = stride == 1 and cin == cout

    def forward(self, x: Tensor) -> Tensor:
        return x + self.branch(x) if self.residual else self.branch(x)


def mobilenet(activation: Callable[[], nn.Module], gate: bool, classes: int = 100) -> nn.Sequential:
    """V2's stages at width 1, with dropout 0.2 before the head."""
    layers: list[nn.Module] = [*conv_bn(3, 32, 3), activation()]
    channels = 32
    for expansion, width, count, first_stride in STAGES:
        for i in range(count):
            stride = first_stride if i == 0 else 1
            layers.append(InvertedResidual(channels, width, stride, expansion, activation, gate))
            channels = width
    layers += [*conv_bn(channels, 1280, 1), activation(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Dropout(0.2), nn.Linear(1280, classes))


SPECS = (
    Spec(
        "mobilenet",
        partial(mobilenet, partial(nn.ReLU6, inplace=True), gate=False),
        ((8, 3, 32, 32),),
        "MobileNetV2 with CIFAR strides, ReLU6",
    ),
    Spec(
        "mobilenet_se",
        partial(mobilenet, nn.Hardswish, gate=True),
        ((8, 3, 32, 32),),
        "inverted residuals with hard-swish and squeeze-and-excite",
    ),
)
