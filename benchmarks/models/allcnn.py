"""All-CNN-C (Springenberg et al., 2015): convolutions only, dropout after the strided ones."""

from __future__ import annotations

from torch import nn

from .spec import Spec


def allcnnc(dropout: float = 0.5, classes: int = 10) -> nn.Sequential:
    """Nine convolutions; the seventh is unpadded, so the final average runs over 6x6 positions."""

    def conv(cin: int, cout: int, kernel: int = 3, stride: int = 1, padding: int = 1) -> list[nn.Module]:
        return [nn.Conv2d(cin, cout, kernel, stride, padding), nn.ReLU()]

    return nn.Sequential(
        *conv(3, 96),
        *conv(96, 96),
        *conv(96, 96, stride=2),
        nn.Dropout(dropout),
        *conv(96, 192),
        *conv(192, 192),
        *conv(192, 192, stride=2),
        nn.Dropout(dropout),
        *conv(192, 192, padding=0),
        *conv(192, 192, kernel=1, padding=0),
        *conv(192, classes, kernel=1, padding=0),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


SPECS = (Spec("allcnnc", allcnnc, ((8, 3, 32, 32),), "All-CNN-C, dropout 0.5 after strided layers"),)
