"""U-Net (Ronneberger et al., 2015): transposed convolutions up, skip connections by concatenation."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from .activations import MakeActivation, activation_maker
from .convolution import convolution


class UNet(nn.Module):
    """Image to scores of classes per pixel, through ``len(widths) - 1`` halvings.

    norm: batch normalization behind each 3 × 3 convolution, or none.
    """

    def __init__(
        self,
        activation: str | MakeActivation = "relu",
        *,
        norm: bool = True,
        widths: tuple[int, ...] = (32, 64, 128, 256),
        classes: int = 10,
        channels: int = 3,
    ) -> None:
        super().__init__()
        make = activation_maker(activation)

        def twice(inputs: int, outputs: int) -> nn.Sequential:
            """Two 3 × 3 convolutions, each with its activation."""
            first, second = (convolution(n, outputs, 3, norm=norm) for n in (inputs, outputs))
            return nn.Sequential(*first, make(outputs), *second, make(outputs))

        steps = list(pairwise(widths))
        self.entry = twice(channels, widths[0])
        self.pool = nn.MaxPool2d(2)
        self.down = nn.ModuleList(twice(wide, deep) for wide, deep in steps)
        self.up = nn.ModuleList(nn.ConvTranspose2d(deep, wide, 2, 2) for wide, deep in reversed(steps))
        self.merge = nn.ModuleList(twice(2 * wide, wide) for wide, _ in reversed(steps))
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.entry(x)
        skips = []
        for down in self.down:
            skips.append(x)
            x = down(self.pool(x))
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([skips.pop(), up(x)], dim=1))
        out: Tensor = self.head(x)
        return out
