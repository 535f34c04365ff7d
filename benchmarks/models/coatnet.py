"""CoAtNet (Dai et al., 2021), reduced: MBConv stages, then attention with relative position bias."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .spec import Spec


class ChannelGate(nn.Module):
    """Squeeze-and-excite with SiLU inside."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, squeezed, 1)
        self.excite = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.excite(F.silu(self.squeeze(x.mean((2, 3), keepdim=True)))).sigmoid()


class Shortcut(nn.Module):
    """The identity, or max pooling and a 1x1 convolution where resolution and width change."""

    def __init__(self, cin: int, cout: int, stride: int) -> None:
        super().__init__()
        self.pool = nn.MaxPool2d(stride) if stride > 1 else nn.Identity()
        self.project = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return self.project(self.pool(x))


class MBConv(nn.Module):
    """Pre-normed inverted residual: expand by 4, depthwise 3x3, gate, project."""

    def __init__(self, cin: int, cout: int, stride: int) -> None:
        super().__init__()
        hidden = 4 * cout
        self.shortcut = Shortcut(cin, cout, stride)
        self.branch = nn.Sequential(
            nn.BatchNorm2d(cin),
            nn.Conv2d(cin, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden),
            nn.GELU(),
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.GELU(),
            ChannelGate(hidden, cout),
            nn.Conv2d(hidden, cout, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.shortcut(x) + self.branch(x)


class RelativeAttention(nn.Module):
    """Attention over a size x size map; each head adds a learned bias per relative offset."""

    def __init__(self, cin: int, cout: int, size: int, head_dim: int = 32) -> None:
        super().__init__()
        self.heads = cout // head_dim
        self.qkv = nn.Linear(cin, 3 * cout)
        self.project = nn.Linear(cout, cout)
        self.bias = nn.Parameter(torch.zeros(self.heads, (2 * size - 1) ** 2))
        row, column = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        place = torch.stack([row.flatten(), column.flatten()])
        offset = place[:, :, None] - place[:, None, :] + size - 1
        self.register_buffer("index", offset[0] * (2 * size - 1) + offset[1], persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[:, self.index])
        return self.project(y.transpose(1, 2).flatten(2))


class AttentionBlock(nn.Module):
    """Attention (pooled first where the stage begins) and an MLP, pre-normed and residual."""

    def __init__(self, cin: int, cout: int, stride: int, size: int) -> None:
        super().__init__()
        self.shortcut = Shortcut(cin, cout, stride)
        self.pool = nn.MaxPool2d(stride) if stride > 1 else nn.Identity()
        self.norm_attention = nn.LayerNorm(cin)
        self.attention = RelativeAttention(cin, cout, size)
        self.norm_mlp = nn.LayerNorm(cout)
        self.mlp = nn.Sequential(nn.Linear(cout, 4 * cout), nn.GELU(), nn.Linear(4 * cout, cout))

    def forward(self, x: Tensor) -> Tensor:
        skip = self.shortcut(x)
        normed = self.norm_attention(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        y = self.attention(self.pool(normed).flatten(2).transpose(1, 2))
        y = y + skip.flatten(2).transpose(1, 2)
        y = y + self.mlp(self.norm_mlp(y))
        return y.transpose(1, 2).unflatten(2, skip.shape[2:])


def coatnet(
    size: int = 64,
    depths: tuple[int, ...] = (2, 2, 3, 2),
    dims: tuple[int, ...] = (32, 64, 128, 256),
    classes: int = 10,
) -> nn.Sequential:
    """Stem at stride 2, two MBConv stages, two attention stages, average, dense head."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, dims[0], 3, 2, 1, bias=False),
        nn.BatchNorm2d(dims[0]),
        nn.GELU(),
        nn.Conv2d(dims[0], dims[0], 3, 1, 1),
    ]
    size //= 2
    channels = dims[0]
    for stage, (depth, dim) in enumerate(zip(depths, dims, strict=True)):
        size //= 2
        for i in range(depth):
            stride = 2 if i == 0 else 1
            if stage < 2:
                layers.append(MBConv(channels, dim, stride))
            else:
                layers.append(AttentionBlock(channels, dim, stride, size))
            channels = dim
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


SPECS = (Spec("coatnet", coatnet, ((8, 3, 64, 64),), "MBConv stages, then relative attention, 64 px"),)
