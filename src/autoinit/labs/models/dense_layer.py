"""What DenseNets (Huang et al., 2017) are made of."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

BOTTLENECK = 4


def normalized_convolution(inputs: int, outputs: int, kernel: int, epsilon: float = 1e-5) -> list[nn.Module]:
    """Batch normalization, ReLU, and a padded convolution without bias."""
    convolution = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
    return [nn.BatchNorm2d(inputs, epsilon), nn.ReLU(), convolution]


class DenseLayer(nn.Sequential):
    """Appends `growth` channels to its input: 1 × 1 to four times as many, then 3 × 3.

    named: the layers are named as in torchvision, else "branch.0", "branch.1" and so on.
    """

    def __init__(self, inputs: int, growth: int, *, epsilon: float = 1e-5, named: bool = False) -> None:
        inner = BOTTLENECK * growth
        layers = [
            *normalized_convolution(inputs, inner, 1, epsilon),
            *normalized_convolution(inner, growth, 3, epsilon),
        ]
        names = ("norm1", "relu1", "conv1", "norm2", "relu2", "conv2")
        parts = zip(names, layers, strict=True) if named else (("branch", nn.Sequential(*layers)),)
        super().__init__(OrderedDict(parts))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, super().forward(x)], dim=1)  # type: ignore[no-untyped-call]
