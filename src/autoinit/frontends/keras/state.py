"""The attributes of a model's layers, kept while it is walked: flags, counters, caches, lists."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .variables import layers_of

MISSING = object()


@contextmanager
def untouched(model: Any) -> Iterator[None]:
    """Afterwards every layer has the attributes that it had, and lists, dicts and sets there hold what they held."""
    kept = [(vars(layer), dict(vars(layer))) for layer in layers_of(model)]
    contents = [(v, _copied(v)) for _, before in kept for v in before.values() if isinstance(v, (list, dict, set))]
    try:
        yield
    finally:
        for attributes, before in kept:
            if len(attributes) != len(before) or any(attributes.get(k, MISSING) is not v for k, v in before.items()):
                attributes.clear()
                attributes.update(before)
        for container, held in contents:
            _restore(container, held)


def _copied(container: Any) -> Any:
    """A plain copy (Keras' own containers report every change to their layer)."""
    if isinstance(container, list):
        return list(container)
    return dict(container) if isinstance(container, dict) else set(container)


def _restore(container: Any, held: Any) -> None:
    if isinstance(container, list):
        if len(container) != len(held) or any(a is not b for a, b in zip(container, held, strict=True)):
            list.__setitem__(container, slice(None), held)
    elif isinstance(container, dict):
        if len(container) != len(held) or any(container.get(k, MISSING) is not v for k, v in held.items()):
            dict.clear(container)
            dict.update(container, held)
    elif len(container) != len(held) or any(item not in held for item in container):
        set.clear(container)
        set.update(container, held)
