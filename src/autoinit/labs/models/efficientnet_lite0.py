"""EfficientNet-lite0 for ImageNet (Tan and Le, 2019; the edition for small devices).

EfficientNet-B0 without squeeze-and-excitation, with ReLU6. Padding is TensorFlow's: the output of stride s has
⌈size / s⌉ places, and an odd number of padded pixels has the larger half at the bottom and at the right.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

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
                blocks.append(InvertedBottleneck(inputs, outputs, kernel, 1 if number else stride, expansion))
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
        return self.fc(self.embedding(x))


class SameConv2d(nn.Conv2d):
    """A convolution with TensorFlow's padding "same"."""

    def forward(self, x: Tensor) -> Tensor:
        pads = []
        for size, kernel, stride in zip(reversed(x.shape[2:]), reversed(self.kernel_size), reversed(self.stride),
                                        strict=True):  # fmt: skip
            missing = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads += [missing // 2, missing - missing // 2]
        return super().forward(functional.pad(x, pads))


class InvertedBottleneck(nn.Module):
    """Wider by 1 × 1, each channel by itself k × k, narrower by 1 × 1; added to its input where the shape stays."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inner = inputs * expansion
        self.expands = expansion > 1
        if self.expands:
            self.expand_conv = nn.Conv2d(inputs, inner, 1, bias=False)
            self.bn0 = nn.BatchNorm2d(inner, EPSILON)
        self.depthwise_conv = SameConv2d(inner, inner, kernel, stride, groups=inner, bias=False)
        self.bn1 = nn.BatchNorm2d(inner, EPSILON)
        self.project_conv = nn.Conv2d(inner, outputs, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs, EPSILON)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        y = functional.relu6(self.bn0(self.expand_conv(x))) if self.expands else x
        y = functional.relu6(self.bn1(self.depthwise_conv(y)))
        y = self.bn2(self.project_conv(y))
        return x + y if self.adds else y
