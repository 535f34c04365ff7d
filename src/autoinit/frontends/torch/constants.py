"""Real tensors as constants of the graph: views of the same memory are one, so that they are read and measured once."""

from __future__ import annotations

from typing import Any

import torch

from ...core.graph.graph import Constant
from .running import as_array

SMALL = 4096
"""Up to so many entries are copied: a model that overwrites them later does not change what was read."""


class ConstantTensors:
    """The constants of one walk."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[torch.Tensor, Constant]] = {}
        """With the tensors, whose memory must not be given to others meanwhile."""

    def of(self, tensor: torch.Tensor) -> Constant:
        key = _memory(tensor)
        if key is None:
            return _constant(tensor)
        if key not in self._known:
            self._known[key] = tensor, _constant(tensor)
        return self._known[key][1]


def _constant(tensor: torch.Tensor) -> Constant:
    shape = tuple(tensor.shape)
    if tensor.device.type == "meta":
        return Constant(shape, lambda: None)
    kept = tensor.detach().clone() if tensor.numel() <= SMALL else tensor.detach()
    read: list[Any] = []  # empty until it is asked for

    def array() -> Any:
        if not read:
            read.append(as_array(kept))
        return read[0]

    return Constant(shape, array)


def _memory(tensor: torch.Tensor) -> tuple[Any, ...] | None:
    """Where the entries lie, and how often they were written; None where that cannot be told."""
    if tensor.layout is not torch.strided or tensor.is_inference() or tensor.numel() <= 1:
        return None
    try:
        storage = tensor.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return None
    flags = tensor.is_conj(), tensor.is_neg()
    return storage, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype, flags, tensor._version
