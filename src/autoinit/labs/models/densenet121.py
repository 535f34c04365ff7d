"""DenseNet-121 for ImageNet (Huang et al., 2017); its parameters are named as in torchvision, whose files fit."""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn
from torch.nn import functional

from .dense_layer import DenseLayer, normalized_convolution

BLOCKS = (6, 12, 24, 16)
GROWTH = 32
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
            self.features.add_module(f"denseblock{number}", _block(width, layers, epsilon))
            width += layers * GROWTH
            if number < len(BLOCKS):
                self.features.add_module(f"transition{number}", _transition(width, epsilon))
                width //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(width, epsilon))
        self.width = width
        self.classifier = nn.Linear(width, classes)

    def embedding(self, x: Tensor) -> Tensor:
        """(N, 1024): the last block's channels, each the mean over its places."""
        return functional.relu(self.features(x)).mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.classifier(self.embedding(x))
        return out


def _block(inputs: int, layers: int, epsilon: float) -> nn.Sequential:
    """Every layer sees what came into the block and what all layers before it made."""
    return nn.Sequential(
        OrderedDict(
            (f"denselayer{number + 1}", DenseLayer(inputs + number * GROWTH, GROWTH, epsilon=epsilon, named=True))
            for number in range(layers)
        )
    )


def _transition(inputs: int, epsilon: float) -> nn.Sequential:
    """Half the channels, half the height and width."""
    layers = (*normalized_convolution(inputs, inputs // 2, 1, epsilon), nn.AvgPool2d(2))
    return nn.Sequential(OrderedDict(zip(("norm", "relu", "conv", "pool"), layers, strict=True)))
