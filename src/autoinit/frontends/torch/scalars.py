"""Fake scalars where Python reads a tensor without asking an op: f-strings, and tuples of scalars as an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor


@contextmanager
def readable_scalars() -> Iterator[None]:
    """While walking, f"{index}" gives the (guessed) value, and x[rows, columns] takes tuples of fake scalars."""
    getitem, setitem = torch.Tensor.__getitem__, torch.Tensor.__setitem__

    def formatted(self: torch.Tensor, spec: str) -> str:
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    FakeTensor.__format__ = formatted  # type: ignore[method-assign]
    torch.Tensor.__getitem__ = lambda self, index: getitem(self, _stacked(index))  # type: ignore[method-assign]
    torch.Tensor.__setitem__ = (  # type: ignore[method-assign]
        lambda self, index, value: setitem(self, _stacked(index), value)
    )
    try:
        yield
    finally:
        del FakeTensor.__format__
        del torch.Tensor.__getitem__, torch.Tensor.__setitem__


def _stacked(index: Any) -> Any:
    """The index with every list of scalars that holds a fake one made a tensor."""
    if isinstance(index, tuple):
        return tuple(_one(i) for i in index) if any(isinstance(i, (tuple, list)) for i in index) else index
    return _one(index) if isinstance(index, list) else index


def _one(item: Any) -> Any:
    if not isinstance(item, (tuple, list)) or not any(isinstance(i, FakeTensor) and i.dim() == 0 for i in item):
        return item
    return torch.stack([i if isinstance(i, torch.Tensor) else torch.tensor(i) for i in item]).long()
