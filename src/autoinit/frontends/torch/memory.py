"""A parameter's entries, wherever they lie: in C order, transposed, in a buffer that others share, expanded."""

from __future__ import annotations

import torch

from ...core.plan.check import repeats


def distinct(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without repetitions: one of those entries that an expanded tensor repeats."""
    for axis, step in enumerate(tensor.stride()):
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
