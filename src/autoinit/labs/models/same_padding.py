"""TensorFlow's padding "same" in PyTorch."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class SameConv2d(nn.Conv2d):
    """A convolution whose output has ⌈size / stride⌉ places.

    Of an odd number of padded pixels the larger half stands at the bottom and at the right.
    """

    def forward(self, x: Tensor) -> Tensor:
        pads = []
        for size, kernel, stride in zip(reversed(x.shape[2:]), reversed(self.kernel_size), reversed(self.stride),
                                        strict=True):  # fmt: skip
            missing = max((-(-size // stride) - 1) * stride + kernel - size, 0)
            pads += [missing // 2, missing - missing // 2]
        return super().forward(functional.pad(x, pads))
