"""Pre-activation residual networks for small images (He et al., 2016, "Identity mappings"), with bottlenecks."""

from __future__ import annotations

from torch import Tensor, nn

from ...errors import OptionError
from .activations import MakeActivation, activation_maker

EXPANSION = 4
"""A block's outputs have so many times the channels of its 3 × 3 convolution."""


def preactivation_resnet(
    depth: int = 164,
    activation: str | MakeActivation = "relu",
    *,
    norm: bool = True,
    width: int = 16,
    classes: int = 10,
    channels: int = 3,
) -> nn.Sequential:
    """Build a network of three stages with n blocks each, where `depth` = 9n + 2: 56, 164, 812.

    Depth counts the stem, three convolutions per block and the dense head, not the projections.
    norm: batch normalization ahead of each activation; without it the convolutions have biases.
    width: channels of the stem and of the first stage's bottlenecks; they double with each stage.
    """
    per_stage, rest = divmod(depth - 2, 9)
    if rest or per_stage < 1:
        why = "no such depth: three stages of n blocks with three convolutions each make 9n + 2"
        raise OptionError(why, where="preactivation_resnet", received=f"depth={depth}", fix="11, 20, 56, 164, 812")
    make = activation_maker(activation)
    layers: list[nn.Module] = [_convolution(channels, width, 3, 1, norm)]
    inputs = width
    for stage in range(3):
        inner = width * 2**stage
        for block in range(per_stage):
            layers.append(PreactivationBlock(inputs, inner, 2 if stage and not block else 1, make, norm))
            inputs = EXPANSION * inner
    return nn.Sequential(
        *layers, *_preactivation(inputs, make, norm), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes)
    )


def _convolution(inputs: int, outputs: int, kernel: int, stride: int, norm: bool) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=not norm)


def _preactivation(channels: int, make: MakeActivation, norm: bool) -> list[nn.Module]:
    return [*([nn.BatchNorm2d(channels)] if norm else []), make(channels)]


class PreactivationBlock(nn.Module):
    """x + branch(a(x)), a being norm and activation; where the shape changes, a projection of a(x) replaces x."""

    def __init__(self, inputs: int, inner: int, stride: int, make: MakeActivation, norm: bool) -> None:
        super().__init__()
        outputs = EXPANSION * inner
        self.preactivation = nn.Sequential(*_preactivation(inputs, make, norm))
        self.branch = nn.Sequential(
            _convolution(inputs, inner, 1, 1, norm),
            *_preactivation(inner, make, norm),
            _convolution(inner, inner, 3, stride, norm),
            *_preactivation(inner, make, norm),
            _convolution(inner, outputs, 1, 1, norm),
        )
        changes = stride > 1 or inputs != outputs
        self.projection = _convolution(inputs, outputs, 1, stride, norm) if changes else None

    def forward(self, x: Tensor) -> Tensor:
        active = self.preactivation(x)
        return (x if self.projection is None else self.projection(active)) + self.branch(active)
