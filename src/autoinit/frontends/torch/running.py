"""Real ops on real arrays: values of constants, and the op that a simulation runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_flatten, tree_map

from .leaves import tensors_in
from .private_random import PrivateRandom

LARGEST_DENSE = 2**25
"""A sparse tensor with more places than this is not written out: its values count as unknown."""


def as_array(tensor: torch.Tensor) -> np.ndarray[Any, Any] | None:
    tensor = tensor.detach()
    if tensor.layout is not torch.strided:
        if tensor.numel() > LARGEST_DENSE:
            return None
        tensor = tensor.to_dense()
    if tensor.is_complex():
        tensor = tensor.resolve_conj()
    if tensor.dtype in (torch.bfloat16, torch.float16):
        tensor = tensor.float()
    return tensor.cpu().numpy()


def runner(func: Any, args: Any, kwargs: Any, outputs: list[int]) -> Callable[..., list[Any] | None]:
    """Runs the real op on arrays, for `core.unknown.simulate`; `outputs` are the places of those that are wanted."""
    kinds = [(tuple(t.shape), t.dtype) for t in tensors_in((args, kwargs))]

    def run(arrays: list[Any]) -> list[Any] | None:
        tensors: Iterator[torch.Tensor] = iter(
            _as_tensor(array, shape, dtype) for array, (shape, dtype) in zip(arrays, kinds, strict=True)
        )
        swapped = tree_map(lambda a: next(tensors) if isinstance(a, torch.Tensor) else a, (args, kwargs))
        with torch.no_grad():
            out = PrivateRandom(0).call(func, *swapped)
        found = [t for t in tree_flatten(out)[0] if isinstance(t, torch.Tensor)]
        return [as_array(found[k]) for k in outputs] if len(found) > max(outputs, default=-1) else None

    return run


def _as_tensor(array: Any, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    made = torch.zeros(shape) if array is None else torch.as_tensor(np.array(array))
    if dtype.is_floating_point:
        return (made.real if made.is_complex() else made).to(dtype)
    if dtype.is_complex:
        return made.to(dtype)
    if made.is_complex():
        made = made.real
    return (made > made.mean()) if dtype is torch.bool else made.round().clamp(min=0).to(dtype)
