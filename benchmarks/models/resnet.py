"""ResNet-50 (He et al., 2015, stride in the 3x3 convolution): post-activation bottleneck blocks, 224 px."""

from __future__ import annotations

from torch import Tensor, nn

from .spec import Spec


def conv_bn(cin: int, cout: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """A padded convolution without bias, and its batch norm."""
    return [nn.Conv2d(cin, cout, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(cout)]


class Bottleneck(nn.Module):
    """relu(shortcut(x) + branch(x)), with a 1x1, a 3x3 and a 1x1 convolution in the branch."""

    def __init__(self, cin: int, width: int, stride: int) -> None:
        super().__init__()
        cout = 4 * width
        self.branch = nn.Sequential(
            *conv_bn(cin, width, 1),
            nn.ReLU(inplace=True),
            *conv_bn(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *conv_bn(width, cout, 1),
        )
        changes = stride > 1 or cin != cout
        self.shortcut = nn.Sequential(*conv_bn(cin, cout, 1, stride)) if changes else nn.Identity()
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        out = self.branch(x)
        out += self.shortcut(x)
        return self.relu(out)


class ResNet(nn.Module):
    """7x7 stem, max pooling, four stages of bottlenecks, average, dense head."""

    def __init__(self, per_stage: tuple[int, ...], classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(*conv_bn(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        blocks: list[nn.Module] = []
        channels = 64
        for stage, count in enumerate(per_stage):
            for i in range(count):
                width = 64 * 2**stage
                blocks.append(Bottleneck(channels, width, stride=2 if stage > 0 and i == 0 else 1))
                channels = 4 * width
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(channels, classes)
        for module in self.modules():  # as the published model initializes itself
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.pool(self.blocks(self.stem(x))).flatten(1))


def resnet50() -> ResNet:
    """The 25.6 million parameter network, with its 1000 classes."""
    return ResNet((3, 4, 6, 3))


SPECS = (Spec("resnet50", resnet50, ((2, 3, 224, 224),), "ResNet-50, 224 px, for speed", heavy=True),)
