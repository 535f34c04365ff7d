"""DenseNet-BC for CIFAR (Huang et al., 2017): every layer reads the concatenation of all before it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .spec import Spec


def norm_relu_conv(cin: int, cout: int, kernel: int) -> list[nn.Module]:
    """The composite function of the paper."""
    return [nn.BatchNorm2d(cin), nn.ReLU(), nn.Conv2d(cin, cout, kernel, padding=kernel // 2, bias=False)]


class DenseLayer(nn.Module):
    """Appends ``growth`` channels to its input, through a 1x1 bottleneck."""

    def __init__(self, cin: int, growth: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(*norm_relu_conv(cin, 4 * growth, 1), *norm_relu_conv(4 * growth, growth, 3))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.branch(x)], dim=1)


def densenet(depth: int = 100, growth: int = 12, classes: int = 10) -> nn.Sequential:
    """Three dense blocks, with transitions that halve the channels and average-pool."""
    per_block = (depth - 4) // 6
    channels = 2 * growth
    layers: list[nn.Module] = [nn.Conv2d(3, channels, 3, padding=1, bias=False)]
    for block in range(3):
        for _ in range(per_block):
            layers.append(DenseLayer(channels, growth))
            channels += growth
        if block < 2:
            layers += [*norm_relu_conv(channels, channels // 2, 1), nn.AvgPool2d(2)]
            channels //= 2
    layers += [nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(channels, classes))


SPECS = (Spec("densenet", densenet, ((8, 3, 32, 32),), "DenseNet-BC-100, growth 12"),)
