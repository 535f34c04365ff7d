"""An op's arguments and results, taken apart: they lie in lists, tuples and dictionaries at most.

(`torch.utils._pytree` knows many more containers, and takes a third of the time of a walk.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            if item is not None and type(item) not in PLAIN:
                _gather(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _gather(item, found)


PLAIN = frozenset({int, float, bool, str})

Nested = tuple[type, Any, tuple[Any, ...]] | None
"""A container's type, its keys if it has some, and its items; None for what is no container."""


def flat_in(value: Any) -> list[Any]:
    """All that lies in it."""
    found: list[Any] = []
    _taken(value, found.append)
    return found


class Form(NamedTuple):
    """Where the arguments of a call lie: what is left when they are taken out."""

    nested: Nested
    spec: TreeSpec | None = None
    """Instead, where there may be containers of any kind."""

    def holding(self, flat: Sequence[Any]) -> Any:
        """(args, kwargs) again, with these in place of what was taken out."""
        return tree_unflatten(flat, self.spec) if self.spec is not None else _filled(self.nested, iter(flat))


def taken_apart(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Form]:
    """All that the arguments of an op hold, one after the other, and their form."""
    if not isinstance(func, torch._ops.OpOverload):
        flat, spec = tree_flatten((args, kwargs))
        return flat, Form(None, spec)
    flat = []
    nested = (tuple, None, (_taken(args, flat.append), _taken(kwargs, flat.append)))
    return flat, Form(nested)


def _taken(item: Any, take: Callable[[Any], None]) -> Nested:
    kind = type(item)
    if kind is tuple or kind is list:
        return kind, None, tuple([_taken(part, take) for part in item])
    if kind is dict:
        return kind, tuple(item), tuple([_taken(part, take) for part in item.values()])
    take(item)
    return None


def _filled(nested: Nested, flat: Iterator[Any]) -> Any:
    if nested is None:
        return next(flat)
    kind, keys, parts = nested
    items = [next(flat) if part is None else _filled(part, flat) for part in parts]
    return dict(zip(keys, items, strict=True)) if keys is not None else items if kind is list else tuple(items)
