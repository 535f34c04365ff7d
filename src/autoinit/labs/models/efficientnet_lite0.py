"""EfficientNet-lite0 for ImageNet (Tan and Le, 2019; the edition for small devices).

EfficientNet-B0 without squeeze-and-excitation, with ReLU6. Padding is TensorFlow's.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from .inverted_residual import InvertedResidual
from .same_padding import SameConv2d

STEM, HEAD = 32, 1280
EPSILON = 1e-3
STAGES = (
    # blocks, kernel, stride, expansion, channels
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


def efficientnet_lite0(*, classes: int = 1000, channels: int = 3) -> EfficientNetLite0:
    """Build EfficientNet-lite0; with the default sizes it has 4,652,008 parameters."""
    return EfficientNetLite0(classes, channels)


class EfficientNetLite0(nn.Module):
    """A stem, sixteen inverted bottlenecks, a head, a dense output; `embedding` stops before the output."""

    def __init__(self, classes: int, channels: int) -> None:
        super().__init__()
        self.conv_stem = SameConv2d(channels, STEM, 3, 2, bias=False)
        self.bn0 = nn.BatchNorm2d(STEM, EPSILON)
        blocks: list[nn.Module] = []
        inputs = STEM
        for count, kernel, stride, expansion, outputs in STAGES:
            for number in range(count):
                first = 1 if number else stride
                blocks.append(InvertedResidual(inputs, outputs, kernel, first, expansion, lambda channels: nn.ReLU6(),
                                               epsilon=EPSILON, same=True, named=True))  # fmt: skip
                inputs = outputs
        self.blocks = nn.ModuleList(blocks)
        self.conv_head = nn.Conv2d(inputs, HEAD, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(HEAD, EPSILON)
        self.width = HEAD
        self.fc = nn.Linear(HEAD, classes)

    def embedding(self, x: Tensor) -> Tensor:
        """(N, 1280): the head's channels, each the mean over its places."""
        x = functional.relu6(self.bn0(self.conv_stem(x)))
        for block in self.blocks:
            x = block(x)
        return functional.relu6(self.bn1(self.conv_head(x))).mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc(self.embedding(x))
        return out
