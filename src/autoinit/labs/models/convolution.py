"""A padded convolution and the batch normalization behind it."""

from __future__ import annotations

from torch import nn


def convolution(
    inputs: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    *,
    groups: int = 1,
    norm: bool = True,
    epsilon: float = 1e-5,
) -> list[nn.Module]:
    """The layers, in their order; the convolution has a bias where no normalization follows."""
    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=not norm)
    return [layer, nn.BatchNorm2d(outputs, epsilon)] if norm else [layer]
