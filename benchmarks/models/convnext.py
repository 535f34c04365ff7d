"""ConvNeXt (Liu et al., 2022), reduced: depthwise 7x7, channels-last LayerNorm, GELU, layer scale."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .spec import Spec


class LayerNorm2d(nn.LayerNorm):
    """Layer norm over the channels of a channels-first map."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtBlock(nn.Module):
    """x + scale * mlp(norm(depthwise(x))), the MLP on channels-last data."""

    def __init__(self, dim: int, layer_scale: float = 1e-6) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.expand = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.project = nn.Linear(4 * dim, dim)
        self.scale = nn.Parameter(layer_scale * torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.scale * self.project(self.act(self.expand(y)))
        return x + y.permute(0, 3, 1, 2)


def convnext(
    depths: tuple[int, ...] = (3, 3, 9, 3), dims: tuple[int, ...] = (48, 96, 192, 384), classes: int = 100
) -> nn.Sequential:
    """The Tiny layout at half width."""
    layers: list[nn.Module] = [nn.Conv2d(3, dims[0], 4, 4), LayerNorm2d(dims[0], eps=1e-6)]
    for stage, (depth, dim) in enumerate(zip(depths, dims, strict=True)):
        if stage:
            layers += [LayerNorm2d(dims[stage - 1], eps=1e-6), nn.Conv2d(dims[stage - 1], dim, 2, 2)]
        layers += [ConvNeXtBlock(dim) for _ in range(depth)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(dims[-1], eps=1e-6)]
    return nn.Sequential(*layers, nn.Linear(dims[-1], classes))


SPECS = (Spec("convnext", convnext, ((8, 3, 64, 64),), "ConvNeXt-T at half width, layer scale 1e-6"),)
