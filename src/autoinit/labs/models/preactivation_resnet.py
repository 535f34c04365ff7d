"""Pre-activation residual networks for small images (He et al., 2016, "Identity mappings")."""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor, nn

from ...errors import OptionError
from .activations import MakeActivation, activation_maker

EXPANSION = 4
"""The outputs of a bottleneck have so many times the channels of its 3 × 3 convolution."""


def preactivation_resnet(
    depth: int = 164,
    activation: str | MakeActivation = "relu",
    *,
    norm: bool = True,
    bottleneck: bool = True,
    width: int = 16,
    classes: int = 10,
    channels: int = 3,
    grouped: bool = False,
) -> nn.Sequential:
    """Build a network of three stages with n blocks each: `depth` is 9n + 2 with bottlenecks, else 6n + 2.

    Depth counts the stem, the convolutions of the branches and the dense head, not the projections.
    norm: batch normalization ahead of each activation; without it the convolutions have biases.
    bottleneck: blocks of 1 × 1, 3 × 3 and 1 × 1 convolutions (56, 164, 812), else of two 3 × 3 (20, 56, 110).
    width: channels of the stem and of the first stage's 3 × 3 convolutions; they double with each stage.
    grouped: the layers are named by part (stem, blocks, final, head), else by number.
    """
    per_block = 3 if bottleneck else 2
    per_stage, rest = divmod(depth - 2, 3 * per_block)
    if rest or per_stage < 1:
        why = f"no such depth: three stages of n blocks with {per_block} convolutions each make {3 * per_block}n + 2"
        fix = "11, 20, 56, 164, 812" if bottleneck else "8, 20, 56, 110"
        raise OptionError(why, where="preactivation_resnet", received=f"depth={depth}", fix=fix)
    make = activation_maker(activation)
    names = ("preact", "branch", "shortcut") if grouped else ("preactivation", "branch", "projection")
    stem = _convolution(channels, width, 3, 1, norm)
    blocks: list[nn.Module] = []
    inputs = width
    for stage in range(3):
        inner = width * 2**stage
        for block in range(per_stage):
            stride = 2 if stage and not block else 1
            blocks.append(PreactivationBlock(inputs, inner, stride, make, norm, bottleneck, names))
            inputs = EXPANSION * inner if bottleneck else inner
    final = [*_preactivation(inputs, make, norm), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    head = nn.Linear(inputs, classes)
    if not grouped:
        return nn.Sequential(stem, *blocks, *final, head)
    parts = OrderedDict(stem=stem, blocks=nn.Sequential(*blocks), final=nn.Sequential(*final), head=head)
    return PreactResNet(parts)


class PreactResNet(nn.Sequential):
    """The network with its parts by name."""


class PreactivationBlock(nn.Module):
    """x + branch(a(x)), a being norm and activation; where the shape changes, a projection of a(x) replaces x.

    names: of a, of the branch, and of the projection if there is one.
    """

    def __init__(
        self,
        inputs: int,
        inner: int,
        stride: int,
        make: MakeActivation,
        norm: bool,
        bottleneck: bool,
        names: tuple[str, str, str],
    ) -> None:
        super().__init__()
        outputs = EXPANSION * inner if bottleneck else inner
        self.add_module(names[0], nn.Sequential(*_preactivation(inputs, make, norm)))
        if bottleneck:
            layers = [
                _convolution(inputs, inner, 1, 1, norm),
                *_preactivation(inner, make, norm),
                _convolution(inner, inner, 3, stride, norm),
                *_preactivation(inner, make, norm),
                _convolution(inner, outputs, 1, 1, norm),
            ]
        else:
            layers = [
                _convolution(inputs, inner, 3, stride, norm),
                *_preactivation(inner, make, norm),
                _convolution(inner, outputs, 3, 1, norm),
            ]
        self.add_module(names[1], nn.Sequential(*layers))
        if stride > 1 or inputs != outputs:
            self.add_module(names[2], _convolution(inputs, outputs, 1, stride, norm))

    def forward(self, x: Tensor) -> Tensor:
        preactivation, branch, *projection = self.children()
        active = preactivation(x)
        skip = projection[0](active) if projection else x
        out: Tensor = skip + branch(active)
        return out


def _convolution(inputs: int, outputs: int, kernel: int, stride: int, norm: bool) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=not norm)


def _preactivation(channels: int, make: MakeActivation, norm: bool) -> list[nn.Module]:
    return [*([nn.BatchNorm2d(channels)] if norm else []), make(channels)]
