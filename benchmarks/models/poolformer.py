"""PoolFormer (Yu et al., 2022): token mixing is avgpool(x) - x; no weights, strong dependence."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .spec import Spec


class PoolMixer(nn.Module):
    """The average of the 3x3 neighbourhood, minus the token itself."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.AvgPool2d(3, 1, 1, count_include_pad=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.pool(x) - x


class PoolFormerBlock(nn.Module):
    """Pooling and a 1x1-convolution MLP, each pre-normed, scaled per channel and residual."""

    def __init__(self, dim: int, layer_scale: float = 1e-5) -> None:
        super().__init__()
        self.norm_mixer = nn.GroupNorm(1, dim)
        self.mixer = PoolMixer()
        self.norm_mlp = nn.GroupNorm(1, dim)
        self.mlp = nn.Sequential(nn.Conv2d(dim, 4 * dim, 1), nn.GELU(), nn.Conv2d(4 * dim, dim, 1))
        self.scale_mixer = nn.Parameter(layer_scale * torch.ones(dim))
        self.scale_mlp = nn.Parameter(layer_scale * torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.scale_mixer[:, None, None] * self.mixer(self.norm_mixer(x))
        return x + self.scale_mlp[:, None, None] * self.mlp(self.norm_mlp(x))


def poolformer(
    depths: tuple[int, ...] = (2, 2, 6, 2), dims: tuple[int, ...] = (32, 64, 160, 256), classes: int = 100
) -> nn.Sequential:
    """The S12 layout at half width: overlapping patches, four stages, norm, average, dense head."""
    layers: list[nn.Module] = [nn.Conv2d(3, dims[0], 7, 4, 2)]
    for stage, (depth, dim) in enumerate(zip(depths, dims, strict=True)):
        if stage:
            layers.append(nn.Conv2d(dims[stage - 1], dim, 3, 2, 1))
        layers += [PoolFormerBlock(dim) for _ in range(depth)]
    layers += [nn.GroupNorm(1, dims[-1]), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(dims[-1], classes))


SPECS = (Spec("poolformer", poolformer, ((8, 3, 64, 64),), "PoolFormer-S12 at half width, layer scale 1e-5"),)
