"""Attributes of classes (counters, caches), which a forward may write to as well: as they were afterwards.

Unlike the objects of a model, its classes cannot be stood in for: code names them. What was changed is put back.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

PARTS_OF_A_CLASS = (
    types.FunctionType, types.BuiltinFunctionType, property, classmethod, staticmethod, type,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType,
)  # fmt: skip
CONTAINERS = (dict, list, set, deque)

Saved = dict[str, tuple[Any, Any]]


@contextmanager
def classes_kept(objects: Iterable[Any], written_by: tuple[str, ...]) -> Iterator[None]:
    """The attributes of the classes of `objects` are as before at the end; not those of packages in `written_by`."""
    classes = {c for cls in {type(o) for o in objects} for c in cls.__mro__ if c.__flags__ & 1 << 9}
    mine = [c for c in classes if (c.__module__ or "").partition(".")[0] not in written_by]
    saved: list[tuple[type, Saved]] = [(c, _attributes(c)) for c in mine]
    try:
        yield
    finally:
        for cls, before in saved:
            _put_back(cls, before)


def _attributes(cls: type) -> Saved:
    """Every attribute that holds data, with the content of it if it is a container."""
    return {
        name: (value, _content(value))
        for name, value in vars(cls).items()
        if not name.startswith("__") and not isinstance(value, PARTS_OF_A_CLASS)
    }


def _content(value: Any) -> Any:
    kind = next((kind for kind in CONTAINERS if type(value) is kind), None)
    if kind is None:
        return None
    return list(value.items()) if kind is dict else list(value)


def _put_back(cls: type, before: Saved) -> None:
    now = _attributes(cls)
    for name in now.keys() - before.keys():
        type.__delattr__(cls, name)
    for name, (value, content) in before.items():
        if name not in now or now[name][0] is not value:
            type.__setattr__(cls, name, value)
        if content is not None and not _same(content, _content(value)):
            value.clear()
            value.extend(content) if isinstance(value, (list, deque)) else value.update(content)


def _same(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    flat = [(a, b) for a, b in zip(one, other, strict=True)]
    return all(a is b or (isinstance(a, tuple) and isinstance(b, tuple) and all(map(_is, a, b))) for a, b in flat)


def _is(a: Any, b: Any) -> bool:
    return a is b
