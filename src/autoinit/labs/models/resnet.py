"""ResNet-50 for ImageNet (He et al., 2015): bottlenecks with the activation behind the sum."""

from __future__ import annotations

from collections import OrderedDict

from torch import nn

from .activations import MakeActivation, activation_maker
from .convolution import convolution
from .residual import Residual, shortcut

EXPANSION = 4


def resnet50(
    activation: str | MakeActivation = "relu",
    *,
    norm: bool = True,
    width: int = 64,
    blocks: tuple[int, ...] = (3, 4, 6, 3),
    classes: int = 1000,
    channels: int = 3,
    late_stride: bool = False,
    in_place: bool = False,
    grouped: bool = False,
    fan_out: bool = False,
) -> nn.Sequential:
    """Build ResNet-50; with the default sizes it has 25,557,032 parameters.

    norm: batch normalization behind each convolution; without it the convolutions have biases.
    width: channels of the stem and of the first stage's bottlenecks; they double with each stage.
    blocks: how many there are in each stage.
    late_stride: strides stand in the 3 × 3 convolution of a block; else in the first 1 × 1, as in the first version.
    in_place: sums are taken in the memory of the branch.
    grouped: the layers are named by part (stem, blocks, pool, head), else by number.
    fan_out: kernels begin as N(0, 2/fan_out), as in the published models; else as PyTorch's.
    """
    make = activation_maker(activation)
    stem = [*convolution(channels, width, 7, 2, norm=norm), make(width), nn.MaxPool2d(3, 2, padding=1)]
    body: list[nn.Module] = []
    inputs = width
    for stage, count in enumerate(blocks):
        inner = width * 2**stage
        for block in range(count):
            branch = bottleneck(inputs, inner, 2 if stage and not block else 1, make, norm, late_stride)
            outputs = EXPANSION * inner
            skip = shortcut(inputs, outputs, 2 if stage and not block else 1, norm=norm)
            body.append(Residual(branch, skip, make(outputs), in_place=in_place))
            inputs = outputs
    pool, head = [nn.AdaptiveAvgPool2d(1), nn.Flatten()], nn.Linear(inputs, classes)
    model = nn.Sequential(*stem, *body, *pool, head)
    if grouped:
        parts = (nn.Sequential(*stem), nn.Sequential(*body), nn.Sequential(*pool), head)
        model = nn.Sequential(OrderedDict(zip(("stem", "blocks", "pool", "head"), parts, strict=True)))
    for layer in model.modules() if fan_out else ():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return model


def bottleneck(
    inputs: int, inner: int, stride: int, make: MakeActivation, norm: bool, late_stride: bool
) -> nn.Sequential:
    """The branch of a block: 1 × 1, 3 × 3, and 1 × 1 to four times the channels."""
    first, second = (1, stride) if late_stride else (stride, 1)
    return nn.Sequential(
        *convolution(inputs, inner, 1, first, norm=norm),
        make(inner),
        *convolution(inner, inner, 3, second, norm=norm),
        make(inner),
        *convolution(inner, EXPANSION * inner, 1, norm=norm),
    )
