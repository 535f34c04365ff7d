"""A causal decoder in today's form: RMSNorm, SwiGLU, and as a rule rotary positions and tied embeddings."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import SelfAttention
from .transformer_block import TransformerBlock


class GPT(nn.Module):
    """Token indices to next-token logits.

    length: of the longest sequence.
    tied: the output projection is the embedding table, else a weight of its own.
    rotary: queries and keys are turned by their positions, else a learned table of positions is added to the tokens.
    """

    cos: Tensor
    sin: Tensor

    def __init__(
        self,
        *,
        vocabulary: int = 512,
        width: int = 256,
        depth: int = 8,
        heads: int = 4,
        length: int = 64,
        tied: bool = True,
        rotary: bool = True,
    ) -> None:
        super().__init__()

        def block() -> nn.Module:
            attention = (RotaryAttention if rotary else CausalAttention)(width, width, heads, bias=False)
            return TransformerBlock((nn.RMSNorm(width), nn.RMSNorm(width)), attention, SwiGLU(width, 8 * width // 3))

        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = None if rotary else nn.Embedding(length, width)
        self.blocks = nn.ModuleList(block() for _ in range(depth))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.head.weight = self.embedding.weight
        if rotary:
            cos, sin = rotary_tables(length, width // heads)
            self.register_buffer("cos", cos, persistent=False)
            self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        x = self.embedding(tokens)
        tables: tuple[Tensor, ...] = ()
        if self.positions is None:
            tables = self.cos[:length], self.sin[:length]
        else:
            x = x + self.positions(torch.arange(length, device=tokens.device))
        for block in self.blocks:
            x = block(x, *tables)
        out: Tensor = self.head(self.norm(x))
        return out


class CausalAttention(SelfAttention):
    """A token sees itself and those before it."""

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(functional.scaled_dot_product_attention(*self.parts(tokens), is_causal=True))


class RotaryAttention(SelfAttention):
    """Causal, with queries and keys turned by their positions; the tables are those of `rotary_tables`."""

    def forward(self, tokens: Tensor, *tables: Tensor) -> Tensor:
        q, k, v = self.parts(tokens)
        turned = rotate(q, *tables), rotate(k, *tables)
        return self.output(functional.scaled_dot_product_attention(*turned, v, is_causal=True))


class SwiGLU(nn.Module):
    """down(silu(gate(x)) · up(x))."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return out


def rotary_tables(length: int, width: int, base: float = 10_000.0) -> tuple[Tensor, Tensor]:
    """Cosines and sines of position times frequency, (length, width / 2) each."""
    frequency = base ** (-torch.arange(0, width, 2) / width)
    angle = torch.arange(length)[:, None] * frequency
    return angle.cos(), angle.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair (x[i], x[i + width/2]) by its angle."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
