"""CoAtNet (Dai et al., 2021): two stages of mobile convolutions, then two of attention with relative positions.

The sizes are those of the AutoInit paper's appendix: deeper and thinner than CoAtNet-0. A stage begins by halving
the image, in the branch and, with a maximum and a projection, in the shortcut:

    convolution:  x ← Proj(Pool(x)) + Conv(DepthConv(Conv(Norm(x), stride 2)))
    attention:    x ← Proj(Pool(x)) + Attention(Pool(Norm(x)))
"""

from __future__ import annotations

from torch import nn

from ...errors import OptionError
from .activations import MakeActivation, activation_maker
from .coatnet_blocks import HEAD, AttentionBlock, ConvolutionBlock
from .coatnet_layout import PAPER, Layout

STEM = 64
WIDTHS = (64, 128, 256, 512)
DEPTHS = (3, 4, 6, 3)


def coatnet(
    activation: str | MakeActivation = "gelu",
    *,
    norm: bool = True,
    image_size: int = 160,
    classes: int = 10,
    channels: int = 3,
    width: float = 1.0,
    depth: float = 1.0,
    layout: Layout = PAPER,
) -> nn.Sequential:
    """Build the small CoAtNet for square images of side `image_size`, a multiple of 32.

    norm: batch normalization in the convolutional blocks and layer normalization in the others, or none at all.
    width, depth: factors on the channels and on the blocks of each stage, for smaller machines.
    layout: how its blocks are written, `PAPER` or `COMPACT` of `coatnet_layout`.
    """
    if image_size < 32 or image_size % 32:
        raise OptionError("the image is halved five times", where="coatnet", received=f"image_size={image_size}",
                          fix="a multiple of 32: image_size=160")  # fmt: skip
    if not width > 0 or not depth > 0:
        raise OptionError("factors are positive", where="coatnet", received=f"width={width}, depth={depth}",
                          fix="width=0.25, depth=0.5")  # fmt: skip
    make = activation_maker(activation)
    stem = _scaled(STEM, width)
    layers: list[nn.Module] = [
        nn.Conv2d(channels, stem, 3, 2, padding=1, bias=not norm),
        *([nn.BatchNorm2d(stem)] if norm else []),
        make(stem),
        nn.Conv2d(stem, stem, 3, padding=1),
    ]
    inputs, side = stem, image_size // 2
    for stage, (full, count) in enumerate(zip(WIDTHS, DEPTHS, strict=True)):
        outputs, side = _scaled(full, width), side // 2
        for block in range(max(1, round(depth * count))):
            stride = 1 if block else 2
            if stage < 2:
                layers.append(ConvolutionBlock(inputs, outputs, stride, make, norm, layout))
            else:
                layers.append(AttentionBlock(inputs, outputs, stride, side, make, norm, layout))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def _scaled(channels: int, factor: float) -> int:
    """Whole heads where there is room for one, else a multiple of eight."""
    wanted = channels * factor
    unit = HEAD if wanted >= HEAD else 8
    return max(unit, round(wanted / unit) * unit)
