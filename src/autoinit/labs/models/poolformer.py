"""PoolFormer (Yu et al., 2022): tokens are mixed by an average minus the token; no weights, strong dependence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .activations import MakeActivation, activation_maker


def poolformer(
    activation: str | MakeActivation = "gelu",
    *,
    depths: tuple[int, ...] = (2, 2, 6, 2),
    widths: tuple[int, ...] = (32, 64, 160, 256),
    classes: int = 100,
    channels: int = 3,
    layer_scale: float = 1e-5,
) -> nn.Sequential:
    """Build overlapping patches, stages of so many blocks and channels, norm, average, dense head.

    The defaults are those of S12 at half the width. layer_scale: what each branch is multiplied with at first.
    """
    make = activation_maker(activation)
    layers: list[nn.Module] = [nn.Conv2d(channels, widths[0], 7, 4, 2)]
    for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
        if stage:
            layers.append(nn.Conv2d(widths[stage - 1], width, 3, 2, 1))
        layers += [PoolFormerBlock(width, make, layer_scale) for _ in range(depth)]
    layers += [nn.GroupNorm(1, widths[-1]), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], classes))


class PoolMixer(nn.Module):
    """The average of the 3 × 3 neighbourhood, minus the token itself."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.pool(x) - x
        return out


class PoolFormerBlock(nn.Module):
    """Pooling and two 1 × 1 convolutions, each behind a norm, scaled per channel and beside a shortcut."""

    def __init__(self, width: int, make: MakeActivation, layer_scale: float) -> None:
        super().__init__()
        self.norm_mixer = nn.GroupNorm(1, width)
        self.mixer = PoolMixer()
        self.norm_mlp = nn.GroupNorm(1, width)
        self.mlp = nn.Sequential(nn.Conv2d(width, 4 * width, 1), make(4 * width), nn.Conv2d(4 * width, width, 1))
        self.scale_mixer = nn.Parameter(layer_scale * torch.ones(width))
        self.scale_mlp = nn.Parameter(layer_scale * torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.scale_mixer[:, None, None] * self.mixer(self.norm_mixer(x))
        out: Tensor = x + self.scale_mlp[:, None, None] * self.mlp(self.norm_mlp(x))
        return out
