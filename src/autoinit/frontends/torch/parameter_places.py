"""Which parameter a tensor is, or lies in: by identity, and by where it lies in memory.

Several parameters may share one storage (a flat buffer, views, overlapping pieces), so the storage alone does not tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ...core.graph.graph import ParameterView
from ..views import contiguous_strides, relaid
from .origins import storage_of


class ParameterPlaces:
    """The places of a model's parameters."""

    def __init__(self, parameters: Mapping[str, torch.Tensor], stand_ins: Mapping[int, str]) -> None:
        self._names = {id(p): name for name, p in parameters.items()} | dict(stand_ins)
        self._by_storage: dict[int, list[tuple[str, torch.Tensor]]] = defaultdict(list)
        for name, p in parameters.items():
            if not isinstance(p, FakeTensor):
                self._by_storage[storage_of(p)].append((name, p))

    def find(self, tensor: torch.Tensor) -> tuple[str, int] | None:
        """The name of the parameter, and the tensor's offset in it; None if it lies in no parameter."""
        name = self._names.get(id(tensor))
        if name is not None:
            return name, 0
        if tensor.layout is not torch.strided:
            return None
        here = self._by_storage.get(storage_of(tensor))
        if here is None:
            return None
        exact = next((name for name, p in here if _geometry(p) == _geometry(tensor)), None)
        if exact is not None:
            return exact, 0
        low, high = _reach(tensor)
        around = [(p.numel(), name, p) for name, p in here if _contains(p, low, high) and p.dtype == tensor.dtype]
        if not around:
            return None
        _, name, p = min(around, key=lambda item: item[0])
        return name, low - int(p.storage_offset())


def _geometry(t: torch.Tensor) -> tuple[object, ...]:
    return int(t.storage_offset()), tuple(t.shape), tuple(t.stride()), t.dtype


def _reach(t: torch.Tensor) -> tuple[int, int]:
    """The first and the last place of a tensor in its storage."""
    low = int(t.storage_offset())
    return low, low + sum((n - 1) * s for n, s in zip(t.shape, t.stride(), strict=True))


def _contains(p: torch.Tensor, low: int, high: int) -> bool:
    first, last = _reach(p)
    return first <= low and high <= last


def in_c_order(view: ParameterView, parameter: torch.Tensor) -> ParameterView | None:
    """A view of a parameter as it lies in memory, counted in the parameter's entries in C order, as plans mean them.

    None if it cannot be said: the view merges axes that are neighbours in memory alone. All of it in another order is
    no matter for what is drawn independently.
    """
    if parameter.is_contiguous():
        return view
    shape = tuple(parameter.shape)
    made = relaid(view, shape, tuple(parameter.stride()), contiguous_strides(shape))
    if made is None and view.whole:
        return ParameterView(view.name, view.shape, contiguous_strides(view.shape), 0, True)
    return made
