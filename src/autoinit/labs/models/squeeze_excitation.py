"""Squeeze-and-excitation (Hu et al., 2018): one gate for each channel, from the averages of all of them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from torch import Tensor, nn

from .activations import MakeActivation


class SqueezeAndExcitation(nn.Sequential):
    """x · gate(excite(a(squeeze(average of x)))), from `channels` to `inner` and back.

    gate: makes the function into (0, 1).
    average: over height and width; the sizes stay as 1, or they go, and the layers are dense ones.
    numbered: the layers are named "gate.0", "gate.1" and so on, else by what they do.
    """

    def __init__(
        self,
        channels: int,
        inner: int,
        make: MakeActivation,
        *,
        gate: Callable[[], nn.Module] = nn.Sigmoid,
        average: Average | None = None,
        numbered: bool = False,
    ) -> None:
        def layer(a: int, b: int) -> nn.Module:
            return nn.Linear(a, b) if average and not average.keep else nn.Conv2d(a, b, 1)

        parts: OrderedDict[str, nn.Module] = OrderedDict(
            average=average or nn.AdaptiveAvgPool2d(1),
            squeeze=layer(channels, inner),
            activation=make(inner),
            excite=layer(inner, channels),
            gate=gate(),
        )
        super().__init__(OrderedDict(gate=nn.Sequential(*parts.values())) if numbered else parts)

    def forward(self, x: Tensor) -> Tensor:
        gate: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
        return x * (gate if gate.dim() == x.dim() else gate[:, :, None, None])


class Average(nn.Module):
    """The mean over height and width, which stay as sizes of 1 if they are kept."""

    def __init__(self, keep: bool) -> None:
        super().__init__()
        self.keep = keep

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3), keepdim=self.keep)
