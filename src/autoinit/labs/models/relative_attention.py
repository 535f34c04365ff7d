"""Self-attention over an image whose logits have a learned part that depends on the offset of two places alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def offsets(height: int, width: int) -> Tensor:
    """For each pair of places the number of their offset, from 0 to (2·height − 1)(2·width − 1) − 1."""
    rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    down = rows.flatten()[:, None] - rows.flatten() + height - 1
    right = columns.flatten()[:, None] - columns.flatten() + width - 1
    return down * (2 * width - 1) + right


class RelativeAttention(nn.Module):
    """softmax(q kᵀ/√d + b) v for each head, b from a table with one number per head and offset.

    Tokens are (batch, height · width, channels); `heads` divides the number of channels.
    """

    offsets: Tensor

    def __init__(self, inputs: int, channels: int, heads: int, height: int, width: int) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(inputs, channels) for _ in range(3))
        self.output = nn.Linear(channels, channels)
        self.table = nn.Parameter(torch.zeros(heads, (2 * height - 1) * (2 * width - 1)))
        self.register_buffer("offsets", offsets(height, width), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, count, _ = tokens.shape
        query, key, value = (
            layer(tokens).view(batch, count, self.heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        bias = self.table[:, self.offsets]
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self.output(mixed.transpose(1, 2).reshape(batch, count, -1))
