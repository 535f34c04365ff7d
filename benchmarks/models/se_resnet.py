"""SE-ResNet (Hu et al., 2018): post-activation basic blocks whose branch is gated per channel."""

from __future__ import annotations

from torch import Tensor, nn

from .spec import Spec


class SqueezeExcite(nn.Module):
    """x times a gate in (0, 1) per channel, computed from the channel averages."""

    def __init__(self, channels: int, reduction: int = 16) -> None:
        super().__init__()
        self.squeeze = nn.Linear(channels, channels // reduction)
        self.excite = nn.Linear(channels // reduction, channels)
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        gate = self.excite(self.relu(self.squeeze(x.mean((2, 3))))).sigmoid()
        return x * gate[:, :, None, None]


class SEBlock(nn.Module):
    """relu(shortcut(x) + gate * branch(x))."""

    def __init__(self, cin: int, cout: int, stride: int) -> None:
        super().__init__()
        self.branch = nn.Sequential(
            nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(),
            nn.Conv2d(cout, cout, 3, 1, 1, bias=False),
            nn.BatchNorm2d(cout),
            SqueezeExcite(cout),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride > 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        self.relu = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.shortcut(x) + self.branch(x))


def se_resnet(per_stage: int = 3, widths: tuple[int, ...] = (64, 128, 256), classes: int = 100) -> nn.Sequential:
    """CIFAR layout: stem, three stages, average, dense head."""
    layers: list[nn.Module] = [
        nn.Conv2d(3, widths[0], 3, 1, 1, bias=False),
        nn.BatchNorm2d(widths[0]),
        nn.ReLU(),
    ]
    channels = widths[0]
    for stage, width in enumerate(widths):
        for i in range(per_stage):
            layers.append(SEBlock(channels, width, stride=2 if stage > 0 and i == 0 else 1))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


SPECS = (Spec("se_resnet", se_resnet, ((8, 3, 32, 32),), "SE-ResNet-20, widths 64 to 256, batch norm"),)
