"""What residual networks with the activation behind the sum have in common."""

from __future__ import annotations

from torch import Tensor, nn

from .convolution import convolution


class Residual(nn.Module):
    """activation(shortcut(x) + branch(x)); in_place: the shortcut is added in the memory of the branch."""

    def __init__(
        self, branch: nn.Module, shortcut: nn.Module, activation: nn.Module, *, in_place: bool = False
    ) -> None:
        super().__init__()
        self.branch, self.shortcut, self.activation = branch, shortcut, activation
        self.in_place = in_place

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor
        if self.in_place:
            out = self.branch(x)
            out += self.shortcut(x)
        else:
            out = self.shortcut(x) + self.branch(x)
        out = self.activation(out)
        return out


def shortcut(inputs: int, outputs: int, stride: int, *, norm: bool = True) -> nn.Module:
    """A 1 × 1 convolution where the shape changes, else the input itself."""
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(*convolution(inputs, outputs, 1, stride, norm=norm))
