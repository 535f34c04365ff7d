"""A shadow of a model: the same modules, attributes and hooks, whose every change is a change of the shadow alone.

A forward may do anything: assign ``p.data``, append to histories, call backward, raise in the middle. So it is never
run on the user's objects. Modules, containers and helper objects of the model are copied, one level of each at a time
and without calling anything of theirs; parameters are stood in for by tensors of the same memory, which those who run
the shadow never write to; other tensors are copied, if they are not very large, or stood in for as well. Bound methods,
partial functions, closures and weak references among the attributes lead to the shadow, too, and not back to the model.

What cannot be copied (locks, files, processes, objects of C libraries) is shared.
"""

from __future__ import annotations

import copy
import functools
import random
import sys
import types
import weakref
from argparse import Namespace
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from copyreg import _slotnames  # type: ignore[attr-defined]
from enum import Enum
from functools import lru_cache
from typing import Any, cast

import numpy as np
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .names import Names
from .origins import storage_of
from .remembering.story import Story

MOST_OBJECTS = 200_000
FURTHEST = 5
"""Helper objects (a trainer, a data set) that lie so many of them away from a module are shared."""
LARGEST_COPY = 2**26
"""Tensors and arrays of more bytes are not copied."""
DEEPEST = 100
"""Containers that are nested deeper are shared."""

ATOMS = frozenset({
    int, float, bool, str, bytes, complex, type(None), type, type(...), range, slice, types.ModuleType,
    types.BuiltinFunctionType, types.CodeType, torch.dtype, torch.device, torch.Size, torch.layout,
    torch.memory_format,
})  # fmt: skip

CONTAINERS = frozenset({dict, OrderedDict, set})

COPIED_HERE = ("torch.nn.utils", "torch.nn.modules")
"""Objects of torch that belong to modules (hooks of norms and of pruning); its other ones are shared."""
STANDARD = (Namespace, types.SimpleNamespace)


class Shadow:
    """The shadow of a model; `model` is its root."""

    def __init__(self, model: nn.Module, stories: Mapping[int, Story] | None = None) -> None:
        """`stories`: of tensors without memory, by their id; buffers among them get the values that they would have."""
        self._original = model
        self._stories = stories or {}
        self._made: dict[int, Any] = {}
        self._originals: list[Any] = []
        self._named: list[tuple[str, nn.Module]] | None = None
        self._depth = 0
        self._unfilled: deque[tuple[Any, Any, int]] = deque()
        self._distance = 0
        self._weights = {storage_of(p) for p in model.parameters() if p.layout is torch.strided}
        self._storages: dict[int, torch.UntypedStorage] = {}
        self.model: nn.Module = self.of(model)
        while self._unfilled:
            original, made, self._distance = self._unfilled.popleft()
            self._fill(original, made)

    def of(self, value: Any) -> Any:
        """What stands in the shadow for something of the model's."""
        cls = type(value)
        if cls in ATOMS or (cls is tuple and ATOMS.issuperset(map(type, value))):
            return value
        found = self._made.get(id(value))
        if found is not None:
            return found
        kind = _kind(cast(Hashable, cls))
        if kind is None or len(self._originals) > MOST_OBJECTS:
            return value
        made = kind(self, value)
        if id(value) not in self._made:
            self._remember(value, made)
        return made

    def _remember(self, original: Any, made: Any) -> Any:
        self._made[id(original)] = made
        self._originals.append(original)  # so that no other object gets its id meanwhile
        return made

    def named_modules(self) -> Iterator[tuple[str, nn.Module, nn.Module]]:
        """(name, module of the user's, its shadow)."""
        if self._named is None:
            names = Names(self._original)
            self._named = [(names.plain(name), module) for name, module in self._original.named_modules()]
        for name, module in self._named:
            made = self._made.get(id(module))
            if made is not None:
                yield name, module, made

    # --- how objects are copied -----------------------------------------------------------------------------------

    def _object(self, value: Any) -> Any:
        distance = 0 if isinstance(value, nn.Module) else self._distance + 1
        if distance > FURTHEST:
            return value
        base: Any = types.SimpleNamespace if isinstance(value, types.SimpleNamespace) else object
        try:
            made = base.__new__(type(value))
        except TypeError:
            return value
        self._remember(value, made)
        self._unfilled.append((value, made, distance))
        return made

    def _fill(self, original: Any, made: Any) -> None:
        attributes = getattr(original, "__dict__", None)
        if attributes is not None:
            names = made.__dict__
            known, originals = self._made, self._originals
            names.update(attributes)
            for name, value in [item for item in attributes.items() if type(item[1]) not in ATOMS]:
                cls = type(value)
                if cls in CONTAINERS and not value and id(value) not in known:  # mostly of hooks
                    names[name] = known[id(value)] = cls()
                    originals.append(value)
                else:
                    names[name] = self.of(value)
            if isinstance(original, nn.Module):
                _uncompiled(self, original, names)
        for name in _slots(type(original)):
            try:
                object.__setattr__(made, name, self.of(getattr(original, name)))
            except AttributeError:
                continue

    def _within(self, value: Any, fill: Callable[[], Any]) -> Any:
        if self._depth >= DEEPEST:
            self._made[id(value)] = value
            return value
        self._depth += 1
        try:
            return fill()
        finally:
            self._depth -= 1

    def _extras(self, original: Any, made: Any) -> Any:
        """Attributes of an instance of a class that was derived from a container."""
        attributes = getattr(original, "__dict__", None)
        if attributes:
            made.__dict__.update({k: self.of(v) for k, v in attributes.items()})
        return made

    def _dict(self, value: Any) -> Any:
        cls = type(value)
        if cls in CONTAINERS and not value:
            return cls()
        if cls is dict:
            made = self._remember(value, {})
            items = list(value.items())
            return self._within(value, lambda: made.update([(self.of(k), self.of(v)) for k, v in items]) or made)
        base: Any = next(b for b in (OrderedDict, defaultdict, dict) if isinstance(value, b))
        made = base.__new__(type(value))
        if base is defaultdict:
            defaultdict.__init__(made, value.default_factory)
        self._remember(value, made)

        def fill() -> Any:
            for k in list(base.__iter__(value)):
                base.__setitem__(made, self.of(k), self.of(base.__getitem__(value, k)))
            return self._extras(value, made)

        return self._within(value, fill)

    def _list(self, value: Any) -> Any:
        made = self._remember(value, list.__new__(type(value)))

        def fill() -> Any:
            list.extend(made, [self.of(v) for v in list.__iter__(value)])
            return self._extras(value, made)

        return self._within(value, fill)

    def _tuple(self, value: Any) -> Any:
        items = self._within(value, lambda: [self.of(v) for v in tuple.__iter__(value)])
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        return self._extras(value, tuple.__new__(type(value), items))

    def _set(self, value: Any) -> Any:
        made = self._remember(value, set.__new__(type(value)))
        set.update(made, {self.of(v) for v in set.__iter__(value)})
        return self._extras(value, made)

    def _frozenset(self, value: Any) -> Any:
        return frozenset.__new__(type(value), {self.of(v) for v in frozenset.__iter__(value)})

    def _deque(self, value: Any) -> Any:
        made = deque.__new__(type(value))
        deque.__init__(made, (), value.maxlen)
        self._remember(value, made)

        def fill() -> Any:
            deque.extend(made, [self.of(v) for v in deque.__iter__(value)])
            return self._extras(value, made)

        return self._within(value, fill)

    def _proxy(self, value: Any) -> Any:
        return types.MappingProxyType({k: self.of(v) for k, v in value.items()})

    def _method(self, value: Any) -> Any:
        owner = self.of(value.__self__)
        return value if owner is value.__self__ else types.MethodType(self.of(value.__func__), owner)

    def _function(self, value: Any) -> Any:
        if value.__closure__ is None or _of_the_compiler(value):
            return value
        cells = tuple(types.CellType() for _ in value.__closure__)
        made = types.FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, cells)
        self._remember(value, made)
        made.__kwdefaults__, made.__qualname__ = value.__kwdefaults__, value.__qualname__
        made.__dict__.update(value.__dict__)

        def fill() -> Any:
            for cell, old in zip(cells, value.__closure__, strict=True):
                try:
                    cell.cell_contents = self.of(old.cell_contents)
                except ValueError:  # still empty
                    continue
            return made

        return self._within(value, fill)

    def _partial(self, value: Any) -> Any:
        made = functools.partial(self.of(value.func), *map(self.of, value.args), **self.of(value.keywords))
        made.__dict__.update(value.__dict__)
        return made

    def _reference(self, value: Any) -> Any:
        target = value()
        made = self.of(target)
        return value if made is target else weakref.ref(made)

    def _tensor(self, value: torch.Tensor) -> torch.Tensor:
        """A parameter's stand-in has its class, memory and attributes; other tensors are copied."""
        wraps: bool = is_traceable_wrapper_subclass(value)  # as a bool: for mypy there is no such tensor
        if isinstance(value, FakeTensor) or wraps:
            return value
        if value.layout is not torch.strided:
            return value if isinstance(value, nn.Parameter) else value.detach().clone()
        story = self._stories.get(id(value))
        if story is not None and not isinstance(value, nn.Parameter) and value.nbytes <= LARGEST_COPY:
            worked_out = story.values()
            self._storages[storage_of(value)] = worked_out.untyped_storage()
            return worked_out
        with torch._C.DisableTorchFunctionSubclass():
            data = value.data
            storage = self._copied_storage(data)
            if storage is not None:
                data = torch.empty(0, dtype=data.dtype, device=data.device)
                data.set_(storage, value.storage_offset(), value.shape, value.stride())
            made = torch.Tensor._make_subclass(type(value), data, value.requires_grad and value.is_leaf)
        if value.__dict__:
            self._remember(value, made)
            made.__dict__.update({k: self.of(v) for k, v in value.__dict__.items()})
        return made

    def _copied_storage(self, data: torch.Tensor) -> torch.UntypedStorage | None:
        """A copy of a tensor's memory, one for all tensors that lie in it; None for the memory of parameters."""
        key = storage_of(data)
        if key in self._weights or data.device.type == "meta":
            return None
        if key not in self._storages and data.untyped_storage().nbytes() <= LARGEST_COPY:
            self._originals.append(data)
            self._storages[key] = data.untyped_storage().clone()
        return self._storages.get(key)

    def copies(self) -> set[int]:
        """The storages that belong to the shadow alone."""
        return {int(storage._cdata) for storage in self._storages.values()}


@lru_cache(maxsize=4096)
def _kind(cls: Any) -> Callable[[Shadow, Any], Any] | None:
    """How objects of a class are copied; None: they are shared."""
    if issubclass(cls, torch.jit.ScriptModule):
        return _copied
    if issubclass(cls, nn.Module):
        return Shadow._object
    if issubclass(cls, torch.Tensor):
        return Shadow._tensor
    if issubclass(cls, (Enum, type, BaseException)):
        return None
    for base, kind in (
        (OrderedDict, Shadow._dict), (defaultdict, Shadow._dict), (dict, Shadow._dict), (list, Shadow._list),
        (tuple, Shadow._tuple), (set, Shadow._set), (frozenset, Shadow._frozenset), (deque, Shadow._deque),
        (types.MappingProxyType, Shadow._proxy), (types.MethodType, Shadow._method),
        (types.FunctionType, Shadow._function), (functools.partial, Shadow._partial),
        (weakref.ReferenceType, Shadow._reference), (np.ndarray, _array), (bytearray, _copied),
        (torch.Generator, _torch_generator), (np.random.Generator, _deeply), (np.random.RandomState, _deeply),
        (random.Random, _deeply),
    ):  # fmt: skip
        if issubclass(cls, base):
            return kind
    return Shadow._object if _is_plain(cls) else None


def _uncompiled(shadow: Shadow, original: nn.Module, names: dict[str, Any]) -> None:
    """A compiled module runs as it was before: what was compiled knows the model and not its shadow."""
    if names.get("_compiled_call_impl") is not None:
        names["_compiled_call_impl"] = None
    inner = original._modules.get("_orig_mod")
    if inner is not None and "forward" in names:
        names["forward"] = shadow.of(inner).__call__


def _of_the_compiler(function: types.FunctionType) -> bool:
    return (function.__module__ or "").startswith(("torch._dynamo", "torch._functorch", "torch._inductor"))


def _is_plain(cls: type) -> bool:
    """Classes written in Python, derived from nothing but such: their instances are their attributes.

    Not those with a finalizer, which would free twice what they hold.
    """
    if not all(c is object or c in STANDARD or c.__flags__ & 1 << 9 for c in cls.__mro__):
        return False
    if hasattr(cls, "__del__"):
        return False
    home = cls.__module__ or ""
    root = home.partition(".")[0]
    if root == "torch":
        return home.startswith(COPIED_HERE)
    if root == __name__.partition(".")[0]:
        return False
    return root not in sys.stdlib_module_names or issubclass(cls, STANDARD)


def _slots(cls: type) -> list[str]:
    return list(_slotnames(cls)) if cls.__dict__.get("__slots__") is not None or cls.__mro__[1:-1] else []


def _deeply(shadow: Shadow, value: Any) -> Any:
    return copy.deepcopy(value)


def _copied(shadow: Shadow, value: Any) -> Any:
    try:
        return copy.copy(value)
    except Exception:
        return value


def _array(shadow: Shadow, value: np.ndarray[Any, Any]) -> Any:
    return value.copy() if value.nbytes <= LARGEST_COPY else value


def _torch_generator(shadow: Shadow, value: torch.Generator) -> torch.Generator:
    made = torch.Generator(device=value.device)
    made.set_state(value.get_state())
    return made
