"""The block of transformers with the normalization in front."""

from __future__ import annotations

from torch import Tensor, nn

from .activations import MakeActivation


class TransformerBlock(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x)); what else is given goes to the attention."""

    def __init__(self, norms: tuple[nn.Module, nn.Module], attention: nn.Module, mlp: nn.Module) -> None:
        super().__init__()
        self.norm_attention, self.attention = norms[0], attention
        self.norm_mlp, self.mlp = norms[1], mlp

    def forward(self, x: Tensor, *more: Tensor) -> Tensor:
        x = x + self.attention(self.norm_attention(x), *more)
        out: Tensor = x + self.mlp(self.norm_mlp(x))
        return out


def feed_forward(dim: int, hidden: int, make: MakeActivation) -> nn.Sequential:
    """Two dense layers with an activation between them."""
    return nn.Sequential(nn.Linear(dim, hidden), make(hidden), nn.Linear(hidden, dim))
