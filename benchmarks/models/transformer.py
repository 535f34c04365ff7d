"""The encoder-decoder transformer (Vaswani et al., 2017) as torch.nn.Transformer has it: post-norm, ReLU."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .spec import Spec, Tokens


def sinusoids(length: int, dim: int) -> Tensor:
    """Fixed position codes, sine in the even and cosine in the odd places."""
    frequency = 10_000.0 ** (-torch.arange(0, dim, 2) / dim)
    angle = torch.arange(length)[:, None] * frequency
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


class Seq2Seq(nn.Module):
    """Source and target tokens to target logits, with a causal target mask."""

    def __init__(self, vocabulary: int = 512, dim: int = 256, depth: int = 4, length: int = 64) -> None:
        super().__init__()
        self.source = nn.Embedding(vocabulary, dim)
        self.target = nn.Embedding(vocabulary, dim)
        self.register_buffer("positions", sinusoids(length, dim), persistent=False)
        self.dropout = nn.Dropout(0.1)
        self.transformer = nn.Transformer(dim, 4, depth, depth, 4 * dim, dropout=0.1, batch_first=True)
        self.head = nn.Linear(dim, vocabulary)

    def embed(self, table: nn.Embedding, tokens: Tensor) -> Tensor:
        return self.dropout(table(tokens) + self.positions[: tokens.shape[1]])

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        x, y = self.embed(self.source, source), self.embed(self.target, target)
        return self.head(self.transformer(x, y, tgt_mask=mask, tgt_is_causal=True))


SPECS = (
    Spec(
        "transformer_encoder_decoder",
        Seq2Seq,
        (Tokens((4, 48), 512), Tokens((4, 32), 512)),
        "nn.Transformer, 4 + 4 layers, width 256, two token inputs",
    ),
)
