"""MLP-Mixer (Tolstikhin et al., 2021): MLPs across tokens and across channels in turn."""

from __future__ import annotations

from torch import Tensor, nn

from .spec import Spec


def mlp(dim: int, hidden: int) -> nn.Sequential:
    """Two dense layers with a GELU between."""
    return nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class MixerBlock(nn.Module):
    """Token mixing on the transposed map, then channel mixing, each pre-normed and residual."""

    def __init__(self, tokens: int, dim: int, token_hidden: int, channel_hidden: int) -> None:
        super().__init__()
        self.norm_tokens = nn.LayerNorm(dim)
        self.mix_tokens = mlp(tokens, token_hidden)
        self.norm_channels = nn.LayerNorm(dim)
        self.mix_channels = mlp(dim, channel_hidden)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.mix_tokens(self.norm_tokens(x).transpose(1, 2)).transpose(1, 2)
        return x + self.mix_channels(self.norm_channels(x))


class MlpMixer(nn.Module):
    """Patches, ``depth`` blocks, norm, average over the tokens, dense head."""

    def __init__(self, size: int = 32, patch: int = 4, dim: int = 192, depth: int = 12, classes: int = 100) -> None:
        super().__init__()
        tokens = (size // patch) ** 2
        self.patches = nn.Conv2d(3, dim, patch, patch)
        self.blocks = nn.Sequential(*(MixerBlock(tokens, dim, dim // 2, 4 * dim) for _ in range(depth)))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


SPECS = (Spec("mlp_mixer", MlpMixer, ((8, 3, 32, 32),), "12 blocks, 64 tokens, width 192"),)
