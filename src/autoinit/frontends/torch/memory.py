"""A parameter's entries, wherever they lie: in C order, transposed, in a buffer that others share, expanded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ...core.plan_check import repeats


def region(dense: torch.Tensor, shape: list[int], stride: list[int], offset: int) -> torch.Tensor:
    """The part of a contiguous tensor that a plan means: `offset` counts from the tensor's own first entry."""
    assert dense.is_contiguous()
    return torch.as_strided(dense, shape, stride, offset + dense.storage_offset())


@contextmanager
def in_c_order(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """The tensor with its entries in C order, to change: itself if it lies so, else a copy that is written back."""
    if tensor.is_contiguous():
        yield tensor
        return
    dense = tensor.contiguous()
    yield dense
    distinct(tensor).copy_(distinct(dense, tensor.stride()))


def distinct(tensor: torch.Tensor, strides: tuple[int, ...] | None = None) -> torch.Tensor:
    """The tensor without repetitions: one of those entries that an expanded tensor (with these strides) repeats."""
    for axis, step in enumerate(tensor.stride() if strides is None else strides):
        if step == 0 and tensor.shape[axis] > 1:
            tensor = tensor.narrow(axis, 0, 1)
    return tensor


def overlapping(tensor: torch.Tensor) -> bool:
    """Whether two entries of the tensor may be the same number in memory."""
    return repeats(tuple(tensor.shape), tuple(tensor.stride()))


def held(tensor: torch.Tensor) -> torch.Tensor:
    """A copy of the present values, for `put_back`."""
    return distinct(tensor.detach()).clone(memory_format=torch.preserve_format)


def put_back(tensor: torch.Tensor, values: torch.Tensor) -> None:
    """Write what `held` gave; needs no memory."""
    distinct(tensor).copy_(values)
