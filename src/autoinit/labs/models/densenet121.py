"""DenseNet-121 for ImageNet (Huang et al., 2017); its parameters are named as in torchvision, whose files fit."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

BLOCKS = (6, 12, 24, 16)
GROWTH = 32
BOTTLENECK = 4
STEM = 64


def densenet121(*, classes: int = 1000, channels: int = 3, epsilon: float = 1e-5) -> DenseNet:
    """Build DenseNet-121; with the default sizes it has 7,978,856 parameters.

    epsilon: of batch normalization; torchvision has 1e-5, Keras 1.001e-5.
    """
    return DenseNet(classes, channels, epsilon)


class DenseNet(nn.Module):
    """A stem, four dense blocks with transitions between them, a dense output; `embedding` stops before the output."""

    def __init__(self, classes: int, channels: int, epsilon: float) -> None:
        super().__init__()
        self.features = nn.Sequential()
        self.features.add_module("conv0", nn.Conv2d(channels, STEM, 7, 2, padding=3, bias=False))
        self.features.add_module("norm0", nn.BatchNorm2d(STEM, epsilon))
        self.features.add_module("relu0", nn.ReLU())
        self.features.add_module("pool0", nn.MaxPool2d(3, 2, padding=1))
        width = STEM
        for number, layers in enumerate(BLOCKS, 1):
            self.features.add_module(f"denseblock{number}", DenseBlock(width, layers, epsilon))
            width += layers * GROWTH
            if number < len(BLOCKS):
                self.features.add_module(f"transition{number}", Transition(width, epsilon))
                width //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(width, epsilon))
        self.width = width
        self.classifier = nn.Linear(width, classes)

    def embedding(self, x: Tensor) -> Tensor:
        """(N, 1024): the last block's channels, each the mean over its places."""
        return functional.relu(self.features(x)).mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.embedding(x))


class DenseBlock(nn.ModuleDict):
    """Every layer sees what came into the block and what all layers before it made."""

    def __init__(self, inputs: int, layers: int, epsilon: float) -> None:
        super().__init__()
        for number in range(layers):
            self[f"denselayer{number + 1}"] = DenseLayer(inputs + number * GROWTH, epsilon)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.values():
            x = torch.cat([x, layer(x)], dim=1)
        return x


class DenseLayer(nn.Module):
    """Normalized, rectified and convolved twice: 1 × 1 to 128 channels, 3 × 3 to 32."""

    def __init__(self, inputs: int, epsilon: float) -> None:
        super().__init__()
        inner = BOTTLENECK * GROWTH
        self.norm1 = nn.BatchNorm2d(inputs, epsilon)
        self.conv1 = nn.Conv2d(inputs, inner, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(inner, epsilon)
        self.conv2 = nn.Conv2d(inner, GROWTH, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv1(functional.relu(self.norm1(x)))
        return self.conv2(functional.relu(self.norm2(x)))


class Transition(nn.Module):
    """Half the channels, half the height and width."""

    def __init__(self, inputs: int, epsilon: float) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs, epsilon)
        self.conv = nn.Conv2d(inputs, inputs // 2, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return functional.avg_pool2d(self.conv(functional.relu(self.norm(x))), 2)
