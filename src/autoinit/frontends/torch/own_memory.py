"""Real ops that write to nothing but memory of the run's own.

What a forward makes, it may write to. What was there before (parameters, the user's batch, very large buffers) is
copied at the first write; from then on every op that meets that memory gets the copy instead.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from .leaves import taken_apart
from .origins import storage_of
from .private_random import PrivateRandom
from .schema import written_positions


class OwnMemory:
    """The memory of one run."""

    def __init__(self) -> None:
        self._own: set[int] = set()
        self._copies: dict[int, torch.UntypedStorage] = {}
        self._keep: list[torch.Tensor] = []

    def owns(self, storages: set[int]) -> None:
        """These may be written to."""
        self._own |= storages

    def run(self, random: PrivateRandom, func: Any, args: Any, kwargs: Any) -> Any:
        """The op, on copies of what it may not write to."""
        flat, form = taken_apart(func, args, kwargs)
        positions = written_positions(func, flat, form)
        for k in positions:
            self._protect(flat[k])
        if not self._copies:
            out = random.call(func, args, kwargs)
        else:
            given = [self._seen(t) if isinstance(t, torch.Tensor) else t for t in flat]
            out = random.call(func, *form.holding(given))
            back = {id(given[k]): flat[k] for k in positions}
            out = tree_map(lambda t: back.get(id(t), t) if isinstance(t, torch.Tensor) else t, out)
        self._own.update(storage_of(t) for t in tree_flatten(out)[0] if _is_strided(t) and self._is_new(t, flat))
        return out

    def _is_new(self, made: torch.Tensor, given: list[Any]) -> bool:
        """Not a view of an operand."""
        storage = storage_of(made)
        return not any(_is_strided(t) and storage_of(t) == storage for t in given)

    def _protect(self, tensor: torch.Tensor) -> None:
        storage = storage_of(tensor)
        if storage in self._own or storage in self._copies or not _is_strided(tensor) or tensor.is_meta:
            return
        copy = tensor.untyped_storage().clone()
        self._copies[storage] = copy
        self._own.add(int(copy._cdata))
        self._keep.append(tensor)  # so that its storage keeps its identity

    def _seen(self, tensor: torch.Tensor) -> torch.Tensor:
        copy = self._copies.get(storage_of(tensor)) if _is_strided(tensor) else None
        if copy is None:
            return tensor
        made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return made.set_(copy, tensor.storage_offset(), tensor.shape, tensor.stride())


def _is_strided(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and item.layout is torch.strided
