"""All-CNN-C (Springenberg et al., 2015): nine convolutions, dropout, and an average in the place of a dense head."""

from __future__ import annotations

from torch import nn

from .activations import MakeActivation, activation_maker


def all_cnn_c(
    activation: str | MakeActivation = "relu",
    *,
    width: int = 96,
    classes: int = 10,
    channels: int = 3,
    dropout: float = 0.5,
    input_dropout: float | None = 0.2,
) -> nn.Sequential:
    """Build All-CNN-C; inputs of 9 × 9 pixels and more are large enough.

    activation: follows each convolution, the last one too.
    width: filters of the first three convolutions; the later ones have twice as many.
    dropout: rate behind each convolution of stride two; input_dropout: rate on the image, None for no such layer.

    With the default sizes there are 1,369,738 parameters.
    """
    make = activation_maker(activation)
    wide = 2 * width

    def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0) -> list[nn.Module]:
        return [nn.Conv2d(inputs, outputs, kernel, stride, padding), make(outputs)]

    return nn.Sequential(
        *([] if input_dropout is None else [nn.Dropout(input_dropout)]),
        *convolution(channels, width, 3, padding=1),
        *convolution(width, width, 3, padding=1),
        *convolution(width, width, 3, stride=2, padding=1),
        nn.Dropout(dropout),
        *convolution(width, wide, 3, padding=1),
        *convolution(wide, wide, 3, padding=1),
        *convolution(wide, wide, 3, stride=2, padding=1),
        nn.Dropout(dropout),
        *convolution(wide, wide, 3),
        *convolution(wide, wide, 1),
        *convolution(wide, classes, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )
