"""Vision transformer (Dosovitskiy et al., 2021), with the norms in front, or with none."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .activations import MakeActivation, activation_maker
from .attention import SelfAttention
from .transformer_block import TransformerBlock, feed_forward


class VisionTransformer(nn.Module):
    """Patches and a class token, learned positions, blocks, norm, dense head on the class token.

    size: side of the image; norm: layer normalization, or none at all.
    """

    def __init__(
        self,
        activation: str | MakeActivation = "gelu",
        *,
        norm: bool = True,
        size: int = 32,
        patch: int = 4,
        width: int = 192,
        depth: int = 12,
        heads: int = 3,
        classes: int = 100,
        channels: int = 3,
    ) -> None:
        super().__init__()
        make = activation_maker(activation)

        def normalized() -> nn.Module:
            return nn.LayerNorm(width) if norm else nn.Identity()

        def block() -> nn.Module:
            attention = SelfAttention(width, width, heads, stacked=True)
            return TransformerBlock((normalized(), normalized()), attention, feed_forward(width, 4 * width, make))

        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(block() for _ in range(depth)))
        self.norm = normalized()
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], dim=1) + self.positions
        out: Tensor = self.head(self.norm(self.blocks(x))[:, 0])
        return out
