"""U-Net (Ronneberger et al., 2015): transposed convolutions up, skip connections by concatenation."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn

from .spec import Spec


def double_conv(cin: int, cout: int, norm: bool) -> nn.Sequential:
    """Two padded 3x3 convolutions, each with its activation."""
    layers: list[nn.Module] = []
    for channels in (cin, cout):
        layers.append(nn.Conv2d(channels, cout, 3, padding=1, bias=not norm))
        if norm:
            layers.append(nn.BatchNorm2d(cout))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Image to per-pixel class scores, through ``len(widths) - 1`` halvings."""

    def __init__(self, norm: bool = True, widths: tuple[int, ...] = (32, 64, 128, 256), classes: int = 10) -> None:
        super().__init__()
        steps = list(pairwise(widths))
        self.entry = double_conv(3, widths[0], norm)
        self.pool = nn.MaxPool2d(2)
        self.down = nn.ModuleList(double_conv(wide, deep, norm) for wide, deep in steps)
        self.up = nn.ModuleList(nn.ConvTranspose2d(deep, wide, 2, 2) for wide, deep in reversed(steps))
        self.merge = nn.ModuleList(double_conv(2 * wide, wide, norm) for wide, _ in reversed(steps))
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.entry(x)
        skips = []
        for down in self.down:
            skips.append(x)
            x = down(self.pool(x))
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([skips.pop(), up(x)], dim=1))
        return self.head(x)


SPECS = (
    Spec("unet", UNet, ((4, 3, 64, 64),), "three halvings, widths 32 to 256, batch norm"),
    Spec("unet_nonorm", partial(UNet, norm=False), ((4, 3, 64, 64),), "the same without normalization"),
)
