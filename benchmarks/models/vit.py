"""Vision transformer (Dosovitskiy et al., 2021), pre-norm, or with every LayerNorm removed."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .spec import Spec


class SelfAttention(nn.Module):
    """Multi-head attention with packed queries, keys and values."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.project = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, dim = x.shape
        qkv = self.qkv(x).reshape(batch, tokens, 3, self.heads, dim // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.project(y.transpose(1, 2).reshape(batch, tokens, dim))


class TransformerBlock(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, dim: int, heads: int, norm: bool) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(dim) if norm else nn.Identity()
        self.attention = SelfAttention(dim, heads)
        self.norm_mlp = nn.LayerNorm(dim) if norm else nn.Identity()
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


class ViT(nn.Module):
    """Patches and a class token, learned positions, blocks, norm, dense head on the class token."""

    def __init__(
        self,
        norm: bool = True,
        size: int = 32,
        patch: int = 4,
        dim: int = 192,
        depth: int = 12,
        heads: int = 3,
        classes: int = 100,
    ) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch, patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(0.02 * torch.randn(1, (size // patch) ** 2 + 1, dim))
        self.blocks = nn.Sequential(*(TransformerBlock(dim, heads, norm) for _ in range(depth)))
        self.norm = nn.LayerNorm(dim) if norm else nn.Identity()
        self.head = nn.Linear(dim, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], dim=1) + self.positions
        return self.head(self.norm(self.blocks(x))[:, 0])


SPECS = (
    Spec("vit12", ViT, ((8, 3, 32, 32),), "12 pre-norm blocks, width 192, 3 heads, 64 + 1 tokens"),
    Spec("vit12_nonorm", partial(ViT, norm=False), ((8, 3, 32, 32),), "vit12 without any LayerNorm"),
)
