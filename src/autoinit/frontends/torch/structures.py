"""What users call their models with, rebuilt with something else in place of every tensor.

Tuples, lists, mappings, named tuples, data classes and any object with attributes are copied as what they are, without
calling a constructor: the user's own objects are never handed to a model that may write to them. A tensor or object
that occurs twice is one thing in the copy as well; weak references within the structure lead to the copies.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils import _pytree as pytree

from ...core.inputs import Input

PLAIN = (
    type(None), bool, int, float, complex, str, bytes, enum.Enum, range, slice, type(...), np.generic, torch.dtype,
    torch.device, torch.layout, torch.memory_format, torch.Generator,
)  # fmt: skip
"""Passed on as they are."""
CODE = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, nn.Module)
"""Passed on as they are, and not looked into."""
DEEPEST = 200


class Unfit(Exception):
    """Something inside a structure that cannot be rebuilt: where it is, and its type."""

    def __init__(self, where: str, item: Any) -> None:
        super().__init__(where)
        self.where, self.item = where, item


def mapped(function: Callable[[Any], Any], structure: Any, where: str = "inputs") -> Any:
    """A copy of the structure with ``function(leaf)`` for every tensor, array and `Input` in it."""
    return _Copy(function).of(structure, where)


def leaves(structure: Any) -> list[Any]:
    """Tensors, arrays and `Input`s, each once."""
    found: list[Any] = []

    def seen(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    mapped(seen, structure)
    return found


def is_leaf(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray, Input))


def tuple_like(value: tuple[Any, ...], items: list[Any]) -> Any:
    """A tuple of the same class, named or not, without calling its constructor."""
    try:
        return tuple.__new__(type(value), items)
    except TypeError:  # a structure of C, such as what torch.max returns
        return type(value)(items)


def place_in(value: tuple[Any, ...], k: int, where: str) -> str:
    names = getattr(type(value), "_fields", ())
    return f"{where}.{names[k]}" if k < len(names) else f"{where}[{k}]"


class _Copy:
    """One copy: remembers what it has met, by identity."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.made: dict[int, Any] = {}
        self.kept: list[Any] = []  # so that identities stay taken
        self.depth = 0
        self.later: list[tuple[Any, str, Any]] = []

    def of(self, value: Any, where: str) -> Any:
        if isinstance(value, (*PLAIN, *CODE)):
            return value
        if isinstance(value, Input):  # a description: every use is a tensor of its own
            return self.function(value)
        if id(value) in self.made:
            return self.made[id(value)]
        self.kept.append(value)
        if is_leaf(value):
            return self._remember(value, self.function(value))
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unfit(where, value)
        made = self._container(value, where)
        self.depth -= 1
        if not self.depth:
            self._link()
        return made

    def _remember(self, value: Any, made: Any) -> Any:
        self.made[id(value)] = made
        return made

    def _container(self, value: Any, where: str) -> Any:
        if isinstance(value, tuple):
            return self._remember(value, self._tuple(value, where))
        if isinstance(value, list):
            made = self._remember(value, list.__new__(type(value)))
            list.extend(made, (self.of(v, f"{where}[{k}]") for k, v in enumerate(value)))
        elif isinstance(value, deque):
            made = self._remember(value, deque(maxlen=value.maxlen))
            made.extend(self.of(v, f"{where}[{k}]") for k, v in enumerate(value))
        elif isinstance(value, dict):
            plain = OrderedDict if isinstance(value, OrderedDict) else dict
            made = self._remember(value, plain.__new__(type(value)))
            for k, v in plain.items(value):
                plain.__setitem__(made, k, self.of(v, f"{where}[{k!r}]"))
            if isinstance(value, defaultdict):
                made.default_factory = value.default_factory
        elif isinstance(value, (set, frozenset)):
            if any(is_leaf(v) for v in value):
                raise Unfit(where, value)
            return self._remember(value, type(value)(value))
        elif isinstance(value, types.MappingProxyType):
            return self._remember(value, types.MappingProxyType(self.of(dict(value), where)))
        elif type(value) in pytree.SUPPORTED_NODES and not _has_attributes(value):
            items, spec = pytree.tree_flatten(value, is_leaf=lambda v: v is not value)
            return self._remember(value, pytree.tree_unflatten([self.of(v, where) for v in items], spec))
        else:
            made = self._remember(value, self._object(value, where))
        self._attributes(value, made, where)
        return made

    def _tuple(self, value: tuple[Any, ...], where: str) -> Any:
        made = tuple_like(value, [self.of(v, place_in(value, k, where)) for k, v in enumerate(value)])
        self._attributes(value, made, where)
        return made

    def _object(self, value: Any, where: str) -> Any:
        if not _has_attributes(value):
            raise Unfit(where, value)
        makers = (base.__dict__["__new__"] for base in type(value).__mro__ if "__new__" in base.__dict__)
        for maker in makers:
            if isinstance(maker, types.BuiltinMethodType):  # of object, or of a class of C below it
                try:
                    return maker(type(value))
                except TypeError:
                    break
        raise Unfit(where, value)

    def _attributes(self, value: Any, made: Any, where: str) -> None:
        for name, item in _attributes_of(value):
            if isinstance(item, weakref.ref):
                self.later.append((made, name, item))
            else:
                _give(made, name, self.of(item, f"{where}.{name}"))

    def _link(self) -> None:
        """Weak references to things inside the structure go to their copies, others stay."""
        for made, name, reference in self.later:
            target = reference()
            copied = None if target is None else self.made.get(id(target))
            _give(made, name, reference if copied is None else weakref.ref(copied))
        self.later.clear()


def _has_attributes(value: Any) -> bool:
    return hasattr(value, "__dict__") or any(True for _ in _slots(type(value)))


def _attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    yield from list(getattr(value, "__dict__", {}).items())
    for name in _slots(type(value)):
        try:
            yield name, object.__getattribute__(value, name)
        except AttributeError:
            continue


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            private = name.startswith("__") and not name.endswith("__")
            if name not in ("__dict__", "__weakref__"):
                yield f"_{base.__name__.lstrip('_')}{name}" if private else name


def _give(made: Any, name: str, item: Any) -> None:
    """Whatever the class's own __setattr__ does."""
    if isinstance(getattr(made, "__dict__", None), dict) and name not in _slots(type(made)):
        made.__dict__[name] = item
    else:
        object.__setattr__(made, name, item)
