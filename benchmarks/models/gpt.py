"""A causal decoder in today's form: RMSNorm, rotary positions, SwiGLU, tied embeddings."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .spec import Spec, Tokens


def rotary_tables(length: int, dim: int, base: float = 10_000.0) -> tuple[Tensor, Tensor]:
    """Cosines and sines of position times frequency, (length, dim / 2) each."""
    frequency = base ** (-torch.arange(0, dim, 2) / dim)
    angle = torch.arange(length)[:, None] * frequency
    return angle.cos(), angle.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair (x[i], x[i + dim/2]) by its angle."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class CausalAttention(nn.Module):
    """Multi-head causal attention with rotary queries and keys."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.project = nn.Linear(dim, dim, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        parts = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
        return self.project(y.transpose(1, 2).flatten(2))


class SwiGLU(nn.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class DecoderBlock(nn.Module):
    """Pre-norm attention and SwiGLU, both residual."""

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.norm_attention = nn.RMSNorm(dim)
        self.attention = CausalAttention(dim, heads)
        self.norm_mlp = nn.RMSNorm(dim)
        self.mlp = SwiGLU(dim, hidden)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.attention(self.norm_attention(x), cos, sin)
        return x + self.mlp(self.norm_mlp(x))


class GPT(nn.Module):
    """Token indices to next-token logits; the output projection is the embedding table."""

    def __init__(self, vocabulary: int = 512, dim: int = 256, depth: int = 8, heads: int = 4, length: int = 64) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dim)
        self.blocks = nn.ModuleList(DecoderBlock(dim, heads, hidden=8 * dim // 3) for _ in range(depth))
        self.norm = nn.RMSNorm(dim)
        self.head = nn.Linear(dim, vocabulary, bias=False)
        self.head.weight = self.embedding.weight
        cos, sin = rotary_tables(length, dim // heads)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cos[:length], self.sin[:length])
        return self.head(self.norm(x))


SPECS = (Spec("gpt_swiglu", GPT, (Tokens((8, 64), 512),), "8 causal blocks, rotary, SwiGLU, tied embeddings"),)
