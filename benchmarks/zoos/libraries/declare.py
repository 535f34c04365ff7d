"""How an entry of this group is declared. Nothing of the libraries is imported before a model is built."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from ..entry import Entry

LIBRARIES = ("diffusers", "neuraloperator", "torch_geometric", "ultralytics", "zuko")
Make = Callable[[Any], nn.Module]
"""The library (a module) -> the model."""


def entry(library: str, module: str, name: str, family: str, make: Make, inputs: Any, note: str = "") -> Entry:
    """The model `make(import_module(module))`, called "libraries:library/name"."""
    made = partial(build, module, make)
    return Entry(f"libraries:{library}/{name}", f"{library}: {family}", made, inputs, note, small=True)


def build(module: str, make: Make) -> nn.Module:
    return make(import_module(module))


def numbers(seed: int, high: int, *shape: int) -> Tensor:
    """Fixed integers below `high`, the same on every call."""
    with torch.device("cpu"):
        return torch.randint(high, shape, generator=torch.Generator().manual_seed(seed))


def normal(seed: int, *shape: int) -> Tensor:
    """A fixed tensor of N(0, 1) numbers, the same on every call."""
    with torch.device("cpu"):
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def uniform(seed: int, *shape: int) -> Tensor:
    """A fixed tensor of numbers between 0 and 1, the same on every call."""
    with torch.device("cpu"):
        return torch.rand(shape, generator=torch.Generator().manual_seed(seed))
