"""The encoder-decoder transformer (Vaswani et al., 2017) as torch.nn.Transformer has it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class SequenceToSequence(nn.Module):
    """Source and target tokens to target logits, with a causal target mask; norms behind the sums, ReLU.

    depth: layers of the encoder, and of the decoder; length: of the longest sequence.
    """

    positions: Tensor

    def __init__(
        self,
        *,
        vocabulary: int = 512,
        width: int = 256,
        depth: int = 4,
        heads: int = 4,
        length: int = 64,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.source = nn.Embedding(vocabulary, width)
        self.target = nn.Embedding(vocabulary, width)
        self.register_buffer("positions", sinusoids(length, width), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.transformer = nn.Transformer(width, heads, depth, depth, 4 * width, dropout=dropout, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def embed(self, table: nn.Embedding, tokens: Tensor) -> Tensor:
        out: Tensor = self.dropout(table(tokens) + self.positions[: tokens.shape[1]])
        return out

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        x, y = self.embed(self.source, source), self.embed(self.target, target)
        out: Tensor = self.head(self.transformer(x, y, tgt_mask=mask, tgt_is_causal=True))
        return out


def sinusoids(length: int, width: int) -> Tensor:
    """Fixed position codes, sine in the even and cosine in the odd places."""
    frequency = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angle = torch.arange(length)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
