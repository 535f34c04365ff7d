"""Layer normalization of maps."""

from __future__ import annotations

from torch import Tensor, nn


class ChannelNorm(nn.LayerNorm):
    """Over the channels of (batch, channels, height, width), at each place by itself."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
