"""Models around a function of a test's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn


class Between(nn.Module):
    """first -> function -> last; `out` is the width behind the function, `features` that of the output."""

    def __init__(
        self, function: Callable[[Tensor], Tensor], width: int = 64, out: int | None = None, features: int = 64
    ) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(width, width), nn.Linear(out or width, features)
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.last(self.function(self.first(x)))
        return made


class Call(nn.Module):
    """A module from a function of the inputs and, if given, of layers."""

    def __init__(self, function: Callable[..., Any], **layers: nn.Module) -> None:
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.named = list(layers)

    def forward(self, *inputs: Any, **named: Any) -> Any:
        return self.function(*inputs, **named, **{name: getattr(self, name) for name in self.named})
