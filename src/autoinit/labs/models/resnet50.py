"""ResNet-50 for ImageNet (He et al., 2015), the first version: strides stand in the first 1 × 1 of a block."""

from __future__ import annotations

from torch import Tensor, nn

from .activations import MakeActivation, activation_maker

BLOCKS = (3, 4, 6, 3)
EXPANSION = 4


def resnet50(
    activation: str | MakeActivation = "relu",
    *,
    norm: bool = True,
    width: int = 64,
    classes: int = 1000,
    channels: int = 3,
) -> nn.Sequential:
    """Build ResNet-50; with the default sizes it has 25,557,032 parameters.

    norm: batch normalization behind each convolution; without it the convolutions have biases.
    width: channels of the stem and of the first stage's bottlenecks; they double with each stage.
    """
    make = activation_maker(activation)
    layers: list[nn.Module] = [
        nn.Conv2d(channels, width, 7, 2, padding=3, bias=not norm),
        *([nn.BatchNorm2d(width)] if norm else []),
        make(width),
        nn.MaxPool2d(3, 2, padding=1),
    ]
    inputs = width
    for stage, count in enumerate(BLOCKS):
        inner = width * 2**stage
        for block in range(count):
            layers.append(BottleneckBlock(inputs, inner, 2 if stage and not block else 1, make, norm))
            inputs = EXPANSION * inner
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))


class BottleneckBlock(nn.Module):
    """activation(shortcut(x) + branch(x)); the shortcut is a projection where the shape changes."""

    def __init__(self, inputs: int, inner: int, stride: int, make: MakeActivation, norm: bool) -> None:
        super().__init__()
        outputs = EXPANSION * inner

        def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> list[nn.Module]:
            layer = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=not norm)
            return [layer, nn.BatchNorm2d(outputs)] if norm else [layer]

        self.branch = nn.Sequential(
            *convolution(inputs, inner, 1, stride),
            make(inner),
            *convolution(inner, inner, 3),
            make(inner),
            *convolution(inner, outputs, 1),
        )
        changes = stride > 1 or inputs != outputs
        self.shortcut = nn.Sequential(*convolution(inputs, outputs, 1, stride)) if changes else nn.Identity()
        self.activation = make(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.activation(self.shortcut(x) + self.branch(x))
