"""Self-attention with several heads."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class SelfAttention(nn.Module):
    """Queries, keys and values from one layer, and a layer behind the mix of the values.

    Tokens are (batch, count, inputs); `heads` divides `channels`.
    stacked: the three parts are taken apart along an axis of their own, else by cutting the channels. It is the same
    function, written in the two ways that there are.
    """

    def __init__(self, inputs: int, channels: int, heads: int, *, bias: bool = True, stacked: bool = False) -> None:
        super().__init__()
        self.heads, self.stacked = heads, stacked
        self.qkv = nn.Linear(inputs, 3 * channels, bias=bias)
        self.project = nn.Linear(channels, channels, bias=bias)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(functional.scaled_dot_product_attention(*self.parts(tokens)))

    def parts(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: (batch, heads, count, channels / heads) each."""
        packed: Tensor = self.qkv(tokens)
        if self.stacked:
            q, k, v = packed.reshape(*tokens.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        else:
            q, k, v = (by_head(part, self.heads) for part in packed.chunk(3, dim=-1))
        return q, k, v

    def output(self, mixed: Tensor) -> Tensor:
        """The last layer, on the heads put together."""
        out: Tensor = self.project(together(mixed))
        return out


def by_head(tokens: Tensor, heads: int) -> Tensor:
    """(batch, count, channels) to (batch, heads, count, channels / heads)."""
    split: Tensor = tokens.unflatten(-1, (heads, -1))
    return split.transpose(1, 2)


def together(mixed: Tensor) -> Tensor:
    """Back from heads to channels."""
    return mixed.transpose(1, 2).flatten(2)
