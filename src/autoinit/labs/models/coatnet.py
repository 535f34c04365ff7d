"""CoAtNet (Dai et al., 2021): two stages of mobile convolutions, then two of attention with relative positions.

The sizes are those of the AutoInit paper's appendix: deeper and thinner than CoAtNet-0. A stage begins by halving
the image, in the branch and, with a maximum and a projection, in the shortcut:

    convolution:  x ← Proj(Pool(x)) + Conv(DepthConv(Conv(Norm(x), stride 2)))
    attention:    x ← Proj(Pool(x)) + Attention(Pool(Norm(x)))
"""

from __future__ import annotations

from torch import Tensor, nn

from ...errors import OptionError
from .activations import MakeActivation, activation_maker
from .relative_attention import RelativeAttention

STEM = 64
WIDTHS = (64, 128, 256, 512)
DEPTHS = (3, 4, 6, 3)
HEAD = 32
EXPANSION = 4
SQUEEZE = 4


def coatnet(
    activation: str | MakeActivation = "gelu",
    *,
    norm: bool = True,
    image_size: int = 160,
    classes: int = 10,
    channels: int = 3,
    width: float = 1.0,
    depth: float = 1.0,
) -> nn.Sequential:
    """Build the small CoAtNet for square images of side `image_size`, a multiple of 32.

    norm: batch normalization in the convolutional blocks and layer normalization in the others, or none at all.
    width, depth: factors on the channels and on the blocks of each stage, for smaller machines.
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
                layers.append(ConvolutionBlock(inputs, outputs, stride, make, norm))
            else:
                layers.append(AttentionBlock(inputs, outputs, stride, side, make, norm))
            inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


def _scaled(channels: int, factor: float) -> int:
    """Whole heads where there is room for one, else a multiple of eight."""
    wanted = channels * factor
    unit = HEAD if wanted >= HEAD else 8
    return max(unit, round(wanted / unit) * unit)


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    if stride == 1:
        return nn.Identity()
    return nn.Sequential(nn.MaxPool2d(stride), nn.Conv2d(inputs, outputs, 1))


class SqueezeAndExcitation(nn.Module):
    """x · sigmoid(g(average of x)): one gate per channel, from two 1 × 1 convolutions."""

    def __init__(self, channels: int, inner: int, make: MakeActivation) -> None:
        super().__init__()
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, inner, 1),
            make(inner),
            nn.Conv2d(inner, channels, 1),
            nn.Sigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gate(x)


class ConvolutionBlock(nn.Module):
    """Inverted bottleneck: widen by 1 × 1, mix places by a 3 × 3 for each channel, weigh channels, narrow by 1 × 1."""

    def __init__(self, inputs: int, outputs: int, stride: int, make: MakeActivation, norm: bool) -> None:
        super().__init__()
        inner = EXPANSION * outputs

        def normalized(channels: int) -> list[nn.Module]:
            return [nn.BatchNorm2d(channels)] if norm else []

        self.shortcut = _shortcut(inputs, outputs, stride)
        self.branch = nn.Sequential(
            *normalized(inputs),
            nn.Conv2d(inputs, inner, 1, stride, bias=not norm),
            *normalized(inner),
            make(inner),
            nn.Conv2d(inner, inner, 3, padding=1, groups=inner, bias=not norm),
            *normalized(inner),
            make(inner),
            SqueezeAndExcitation(inner, outputs // SQUEEZE, make),
            nn.Conv2d(inner, outputs, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.shortcut(x) + self.branch(x)


class AttentionBlock(nn.Module):
    """Relative attention, then a dense network on each place; both beside a shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int, side: int, make: MakeActivation, norm: bool) -> None:
        super().__init__()
        self.shortcut = _shortcut(inputs, outputs, stride)
        self.before = nn.LayerNorm(inputs) if norm else nn.Identity()
        self.pool = nn.MaxPool2d(stride) if stride > 1 else nn.Identity()
        self.attention = RelativeAttention(inputs, outputs, max(1, outputs // HEAD), side, side)
        self.dense = nn.Sequential(
            nn.LayerNorm(outputs) if norm else nn.Identity(),
            nn.Linear(outputs, EXPANSION * outputs),
            TokenActivation(make(EXPANSION * outputs)),
            nn.Linear(EXPANSION * outputs, outputs),
        )

    def forward(self, x: Tensor) -> Tensor:
        seen = self.pool(_places(self.before(_tokens(x)), x.shape[-1]))
        mixed = _tokens(self.shortcut(x)) + self.attention(_tokens(seen))
        return _places(mixed + self.dense(mixed), seen.shape[-1])


class TokenActivation(nn.Module):
    """An activation that may have parameters per channel, on tokens: channels go to the axis where maps have them."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, tokens: Tensor) -> Tensor:
        return self.function(tokens.transpose(1, 2).unsqueeze(-1)).squeeze(-1).transpose(1, 2)


def _tokens(maps: Tensor) -> Tensor:
    return maps.flatten(2).transpose(1, 2)


def _places(tokens: Tensor, side: int) -> Tensor:
    return tokens.transpose(1, 2).unflatten(2, (-1, side))
