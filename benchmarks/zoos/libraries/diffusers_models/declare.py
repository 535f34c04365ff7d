"""How a network of diffusers is declared: a class, its config, and the inputs by name."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

from torch import Tensor, nn

from ...entry import Entry
from ..declare import entry, numbers

BATCH, TEXT, WIDTH = 2, 12, 32
"""Texts of 12 tokens with 32 features."""


class Given(nn.Module):
    """A network with some arguments that are no tensors."""

    def __init__(self, model: nn.Module, fixed: dict[str, Any]) -> None:
        super().__init__()
        self.model, self.fixed = model, fixed

    def forward(self, **inputs: Tensor) -> Any:
        return self.model(**inputs, **self.fixed)


def make(class_name: str, config: dict[str, Any], fixed: dict[str, Any] | None, library: Any) -> nn.Module:
    made: nn.Module = getattr(library, class_name)(**deepcopy(config))
    return made if fixed is None else Given(made, fixed)


def network(
    family: str, class_name: str, inputs: Any, config: dict[str, Any], variant: str = "",
    fixed: dict[str, Any] | None = None,
) -> Entry:  # fmt: skip
    name = f"{class_name}-{variant}" if variant else class_name
    return entry("diffusers", "diffusers", name, family, partial(make, class_name, config, fixed), inputs)


def steps(batch: int = BATCH) -> Tensor:
    """The moments of diffusion of a batch."""
    return numbers(0, 1000, batch)


def text(length: int = TEXT, width: int = WIDTH) -> tuple[int, int, int]:
    return (BATCH, length, width)
