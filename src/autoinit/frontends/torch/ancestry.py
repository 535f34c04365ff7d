"""How values of the graph come about, by the origins of their tensors: real ops for `sampling_fallback`."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import Any

import torch
from numpy.typing import NDArray

from ...core.graph.graph import Value
from ..base_ancestry import LARGEST, MOST_OPS, share
from .origins import Origin, run_once
from .running import as_array

Draw = Callable[..., NDArray[Any] | None]
"""(value) -> a sample of it; (value, True) a complex one."""


class OriginAncestry:
    """Values and origins, both ways."""

    def __init__(self) -> None:
        self._origin: dict[int, Origin] = {}
        self._value: dict[Origin, Value] = {}

    def record(self, value: Value, origin: Origin) -> None:
        if value.shape == origin.shape:
            self._origin[value.id] = origin
            self._value.setdefault(origin, value)

    def starts(self, value: Value) -> bool:
        origin = self._origin.get(value.id)
        return origin is None or origin.is_leaf

    def related(self, one: Value, other: Value) -> bool:
        a, b = (self._origin.get(v.id) for v in (one, other))
        return a is not None and b is not None and share(a.leaves, b.leaves)

    def size(self, value: Value, known: dict[Any, Any]) -> float:
        total, seen, waiting = 0, set(), [self._origin[value.id]]
        while waiting:
            origin = waiting.pop()
            if origin in seen or origin in known:
                continue
            seen.add(origin)
            entries = prod(origin.shape)
            total += entries
            if len(seen) > MOST_OPS or entries > LARGEST:
                return inf
            if not origin.is_leaf:
                waiting.extend(origin.parts())
        return total

    def evaluate(self, value: Value, draw: Draw, known: dict[Any, Any]) -> NDArray[Any] | None:
        def ask(origin: Origin) -> torch.Tensor:
            if origin not in known:
                known[origin] = self._made(origin, draw, ask, len(known))
            found: torch.Tensor = known[origin]
            return found

        try:
            with torch.no_grad():
                return as_array(ask(self._origin[value.id]))
        except Exception:  # whatever an op may find wrong with samples
            return None

    def _made(self, origin: Origin, draw: Draw, ask: Callable[[Origin], torch.Tensor], seed: int) -> torch.Tensor:
        if not origin.is_leaf:
            made = origin.read(ask) if origin.read is not None else run_once(origin, ask, seed)
        else:
            value = self._value.get(origin)
            drawn = None if value is None else draw(value, origin.dtype.is_complex)
            made = None if drawn is None else torch.as_tensor(drawn).to(origin.dtype)
        if made is None or tuple(made.shape) != origin.shape:
            raise ValueError(f"no sample of a tensor of shape {origin.shape}")
        return made
