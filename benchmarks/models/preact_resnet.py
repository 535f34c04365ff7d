"""Pre-activation ResNets for CIFAR (He et al., 2016), with batch normalization or without.

Depth counts the stem, the convolutions of the residual branches and the dense head, not the 1x1 shortcuts:
6n + 2 with basic blocks, 9n + 2 with bottleneck blocks.
"""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from .spec import Spec


def conv(cin: int, cout: int, kernel: int, stride: int, norm: bool) -> nn.Conv2d:
    """A padded convolution; it has a bias where no normalization follows."""
    return nn.Conv2d(cin, cout, kernel, stride, padding=kernel // 2, bias=not norm)


def preact(channels: int, norm: bool) -> list[nn.Module]:
    """What precedes each convolution of a branch."""
    return [nn.BatchNorm2d(channels), nn.ReLU()] if norm else [nn.ReLU()]


class PreactBlock(nn.Module):
    """x + branch(x); where the shape changes, a 1x1 convolution of the activated input replaces x."""

    def __init__(self, cin: int, width: int, stride: int, bottleneck: bool, norm: bool) -> None:
        super().__init__()
        cout = 4 * width if bottleneck else width
        self.preact = nn.Sequential(*preact(cin, norm))
        if bottleneck:
            self.branch = nn.Sequential(
                conv(cin, width, 1, 1, norm),
                *preact(width, norm),
                conv(width, width, 3, stride, norm),
                *preact(width, norm),
                conv(width, cout, 1, 1, norm),
            )
        else:
            self.branch = nn.Sequential(
                conv(cin, width, 3, stride, norm), *preact(width, norm), conv(width, cout, 3, 1, norm)
            )
        self.shortcut = conv(cin, cout, 1, stride, norm) if stride > 1 or cin != cout else None

    def forward(self, x: Tensor) -> Tensor:
        activated = self.preact(x)
        skip = x if self.shortcut is None else self.shortcut(activated)
        return skip + self.branch(activated)


class PreactResNet(nn.Module):
    """Stem, three stages of n blocks with 16, 32, 64 filters, final activation, average, dense head."""

    def __init__(
        self, depth: int, bottleneck: bool, norm: bool = True, in_channels: int = 3, classes: int = 10
    ) -> None:
        super().__init__()
        per_stage, remainder = divmod(depth - 2, 9 if bottleneck else 6)
        if remainder:
            raise ValueError(f"depth {depth} is not {'9n + 2' if bottleneck else '6n + 2'}")
        self.stem = conv(in_channels, 16, 3, 1, norm)
        blocks: list[nn.Module] = []
        channels = 16
        for stage, width in enumerate((16, 32, 64)):
            for i in range(per_stage):
                stride = 2 if stage > 0 and i == 0 else 1
                blocks.append(PreactBlock(channels, width, stride, bottleneck, norm))
                channels = 4 * width if bottleneck else width
        self.blocks = nn.Sequential(*blocks)
        self.final = nn.Sequential(*preact(channels, norm), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(channels, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.final(self.blocks(self.stem(x))))


def _specs(name: str, depth: int, bottleneck: bool, batch: int) -> tuple[Spec, Spec]:
    blocks = "bottleneck" if bottleneck else "basic"
    shape = (batch, 3, 32, 32)
    build, bare = (
        partial(PreactResNet, depth, bottleneck),
        partial(PreactResNet, depth, bottleneck, norm=False),
    )
    return (
        Spec(name, build, (shape,), f"{blocks} blocks, batch norm", heavy=depth > 500),
        Spec(f"{name}_nonorm", bare, (shape,), f"{blocks} blocks, no normalization", heavy=depth > 500),
    )


SPECS = (
    *_specs("preact_resnet56", 56, False, 8),
    *_specs("preact_resnet56_bottleneck", 56, True, 8),
    *_specs("preact_resnet164", 164, True, 8),
    *_specs("preact_resnet812", 812, True, 4),
)
