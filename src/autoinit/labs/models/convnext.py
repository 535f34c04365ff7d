"""ConvNeXt (Liu et al., 2022): depthwise 7 × 7, layer normalization, a wide dense network, a scale per channel."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .activations import MakeActivation, activation_maker
from .channel_norm import ChannelNorm

EPSILON = 1e-6


def convnext(
    activation: str | MakeActivation = "gelu",
    *,
    depths: tuple[int, ...] = (3, 3, 9, 3),
    widths: tuple[int, ...] = (48, 96, 192, 384),
    classes: int = 100,
    channels: int = 3,
    layer_scale: float = 1e-6,
) -> nn.Sequential:
    """Build a network of so many blocks and channels per stage; the defaults are those of Tiny at half the width.

    layer_scale: what each block's branch is multiplied with at first.
    """
    make = activation_maker(activation)
    layers: list[nn.Module] = [nn.Conv2d(channels, widths[0], 4, 4), ChannelNorm(widths[0], eps=EPSILON)]
    for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
        if stage:
            before = widths[stage - 1]
            layers += [ChannelNorm(before, eps=EPSILON), nn.Conv2d(before, width, 2, 2)]
        layers += [ConvNeXtBlock(width, make, layer_scale) for _ in range(depth)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(widths[-1], eps=EPSILON)]
    return nn.Sequential(*layers, nn.Linear(widths[-1], classes))


class ConvNeXtBlock(nn.Module):
    """x + scale · dense(norm(depthwise(x))), the dense network on data whose channels come last."""

    def __init__(self, width: int, make: MakeActivation, layer_scale: float) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=EPSILON)
        self.expand = nn.Linear(width, 4 * width)
        self.act = make(4 * width)
        self.project = nn.Linear(4 * width, width)
        self.scale = nn.Parameter(layer_scale * torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.project(self.act(self.expand(y)))
        out: Tensor = x + y.permute(0, 3, 1, 2)
        return out
