"""MLP-Mixer (Tolstikhin et al., 2021): dense networks across tokens and across channels in turn."""

from __future__ import annotations

from torch import Tensor, nn

from .activations import MakeActivation, activation_maker
from .transformer_block import feed_forward


class MlpMixer(nn.Module):
    """Patches, `depth` blocks, norm, average over the tokens, dense head; `size` is the side of the image."""

    def __init__(
        self,
        activation: str | MakeActivation = "gelu",
        *,
        size: int = 32,
        patch: int = 4,
        width: int = 192,
        depth: int = 12,
        classes: int = 100,
        channels: int = 3,
    ) -> None:
        super().__init__()
        make = activation_maker(activation)
        tokens = (size // patch) ** 2
        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.blocks = nn.Sequential(*(MixerBlock(tokens, width, make) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patches(x).flatten(2).transpose(1, 2)
        out: Tensor = self.head(self.norm(self.blocks(x)).mean(dim=1))
        return out


class MixerBlock(nn.Module):
    """Tokens are mixed on the transposed map, then channels, each behind a norm and beside a shortcut."""

    def __init__(self, tokens: int, width: int, make: MakeActivation) -> None:
        super().__init__()
        self.norm_tokens = nn.LayerNorm(width)
        self.mix_tokens = feed_forward(tokens, width // 2, make)
        self.norm_channels = nn.LayerNorm(width)
        self.mix_channels = feed_forward(width, 4 * width, make)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.mix_tokens(self.norm_tokens(x).transpose(1, 2)).transpose(1, 2)
        out: Tensor = x + self.mix_channels(self.norm_channels(x))
        return out
