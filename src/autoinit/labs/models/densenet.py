"""DenseNet-BC for small images (Huang et al., 2017): every layer reads all that came before it."""

from __future__ import annotations

from torch import nn

from ...errors import OptionError
from .dense_layer import DenseLayer, normalized_convolution

BLOCKS = 3


def densenet(depth: int = 100, *, growth: int = 12, classes: int = 10, channels: int = 3) -> nn.Sequential:
    """Build three dense blocks of n layers, where `depth` = 6n + 4; transitions halve channels, height and width.

    growth: channels that a layer adds.
    """
    per_block, rest = divmod(depth - 4, 2 * BLOCKS)
    if rest or per_block < 1:
        why = "no such depth: three blocks of n layers with two convolutions each make 6n + 4"
        raise OptionError(why, where="densenet", received=f"depth={depth}", fix="40, 100, 190")
    width = 2 * growth
    layers: list[nn.Module] = [nn.Conv2d(channels, width, 3, padding=1, bias=False)]
    for block in range(BLOCKS):
        for _ in range(per_block):
            layers.append(DenseLayer(width, growth))
            width += growth
        if block < BLOCKS - 1:
            layers += [*normalized_convolution(width, width // 2, 1), nn.AvgPool2d(2)]
            width //= 2
    layers += [nn.BatchNorm2d(width), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(width, classes))
