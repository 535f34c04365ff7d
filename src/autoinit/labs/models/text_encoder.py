"""Text classifiers with a transformer encoder, the norms in front of its branches or behind the sums."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TextEncoder(nn.Module):
    """Tokens and learned positions, `depth` layers as torch.nn has them, the mean over the tokens, a dense head.

    length: of the longest text; norm_first: x + f(norm(x)) and a norm in front of the head, else norm(x + f(x)).
    """

    def __init__(
        self,
        activation: str = "gelu",
        *,
        norm_first: bool = True,
        vocabulary: int = 1000,
        width: int = 128,
        depth: int = 4,
        heads: int = 4,
        length: int = 64,
        classes: int = 2,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()

        def layer() -> nn.Module:
            return nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout, activation, batch_first=True, norm_first=norm_first
            )

        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.layers = nn.Sequential(*(layer() for _ in range(depth)))
        self.norm = nn.LayerNorm(width) if norm_first else nn.Identity()
        self.head = nn.Linear(width, classes)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        out: Tensor = self.head(self.norm(self.layers(x)).mean(dim=1))
        return out
