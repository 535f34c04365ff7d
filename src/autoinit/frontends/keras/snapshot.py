"""Everything that can be reached from a model's layers and can be written, as it is now; and putting it back.

Attributes, containers inside containers, objects of other classes, class attributes, default arguments, closures,
arrays and generators of random numbers. Compared by identity, so that nothing of the user's is called: no ``==``, no
property, no overridden ``update`` of a frozen mapping. What is unchanged is not written.

The values of Keras variables are no part of it: no variable is written while a model is walked (`replay.Apart`).
"""

from __future__ import annotations

import random
import sys
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from functools import cache, partial
from operator import is_
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from keras import InputSpec, KerasTensor, Variable
from keras.initializers import Initializer
from keras.src.ops.node import Node

from ..carried_out import carried_out

LARGEST_ARRAY = 2**30
"""Arrays of more bytes, held as attributes, are not copied, so changes in place stay."""

ATOMS = frozenset({
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type(NotImplemented), np.dtype,
    BuiltinFunctionType, ModuleType, Node, KerasTensor,
})  # fmt: skip
"""Types whose objects hold nothing that could change, or nothing of the user's."""

PLAIN = frozenset({tuple, list, dict, set, frozenset, deque, bytearray, array, OrderedDict})
"""Containers without attributes of their own."""

NOTHING = range(0)
"""In place of what a slot or cell does not hold."""

FOREIGN = frozenset({
    "tensorflow", "jax", "jaxlib", "torch", "numpy", "scipy", "ml_dtypes", "optree", "threading", "_thread", "weakref",
    "_weakref", "_weakrefset", "logging", "concurrent", "multiprocessing", "asyncio", "re", "inspect", "typing", "abc",
    "contextvars", "_contextvars", "google", "h5py",
})  # fmt: skip
"""Packages whose objects are left to themselves, but for those that have their own entry below."""

FRAMEWORKS = FOREIGN | {"keras", "builtins", "autoinit", "collections"}
"""Packages whose classes and functions do not change."""


class Snapshot:
    """What was found; `restore` may be called at any time, and again."""

    def __init__(self, roots: Iterable[Any], left_alone: Iterable[Any] = ()) -> None:
        self._undo: list[Callable[[], None]] = []
        self._dicts: list[tuple[dict[Any, Any], list[Any], list[Any]]] = []
        self._lists: list[tuple[list[Any], list[Any]]] = []
        self._seen: dict[int, Any] = {id(item): item for item in left_alone}
        self._pending: list[Any] = list(roots)
        while self._pending:
            self._take(self._pending.pop())
        del self._pending

    def restore(self) -> None:
        """Everything as it was; an interrupt meanwhile is raised afterwards."""
        carried_out(self._put_back)

    def _put_back(self) -> None:
        for container, keys, values in self._dicts:
            if not _same_dict(container, keys, values):
                _refill_dict(container, keys, values)
        for items, held in self._lists:
            if not _same(items, held):
                list.__setitem__(items, slice(None), held)
        for undo in self._undo:
            undo()

    # --- taking ------------------------------------------------------------------------------------------------------

    def _take(self, item: Any) -> None:
        if id(item) in self._seen:
            return
        self._seen[id(item)] = item
        kind = type(item)
        handler = _HANDLERS.get(kind)
        if handler is None:
            handler = _HANDLERS[kind] = _handler(kind)
        handler(self, item)

    def _more(self, items: Iterable[Any]) -> None:
        self._pending += [item for item in items if type(item) not in ATOMS]

    def _nothing(self, item: Any) -> None:
        """Nothing in it can change."""

    def _tuple(self, item: Any) -> None:
        self._more(tuple.__iter__(item))
        self._attributes(item)

    def _frozenset(self, item: Any) -> None:
        self._more(frozenset.__iter__(item))
        self._attributes(item)

    def _mapping(self, item: dict[Any, Any]) -> None:
        self._dict(item)
        self._attributes(item)

    def _list(self, item: list[Any]) -> None:
        held = list(list.__iter__(item))
        self._lists.append((item, held))
        self._more(held)
        self._attributes(item)

    def _method(self, item: MethodType) -> None:
        self._more([item.__self__, item.__func__])

    def _partial(self, item: Any) -> None:
        self._more([item.func, item.args, item.keywords])

    def _dict(self, item: dict[Any, Any]) -> None:
        keys, values = list(dict.keys(item)), list(dict.values(item))
        self._dicts.append((item, keys, values))
        self._more(values)

    def _attributes(self, item: Any) -> None:
        """What is in an object's dictionary and slots. A class of the user's has attributes, too."""
        kind: Any = type(item)
        if kind in PLAIN:
            return
        try:
            attributes = object.__getattribute__(item, "__dict__")
        except AttributeError:
            attributes = None
        if type(attributes) is dict and id(attributes) not in self._seen:
            self._seen[id(attributes)] = attributes
            self._dict(attributes)
        own, slots = _structure(kind)
        self._pending += own
        for name in slots:
            held = _slot(item, name)
            self._more([held])
            self._undo.append(partial(_put_slot, item, name, held))

    def _class(self, cls: type) -> None:
        if cls.__module__.partition(".")[0] in FRAMEWORKS:
            return
        before = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
        self._more(v.__func__ if isinstance(v, (staticmethod, classmethod)) else v for v in before.values())
        self._undo.append(partial(_put_class, cls, before))

    def _collection(self, item: Any) -> None:
        held = list(item)
        if isinstance(item, (set, deque)):
            self._more(held)
        self._undo.append(partial(_put_items, item, held))
        self._attributes(item)

    def _function(self, item: FunctionType) -> None:
        if str(item.__module__).partition(".")[0] in FRAMEWORKS and not item.__closure__:
            return
        self._pending += [item.__dict__, item.__defaults__, item.__kwdefaults__]
        for cell in item.__closure__ or ():
            held = _content(cell)
            self._more([held])
            self._undo.append(partial(_put_cell, cell, held))

    def _variable(self, item: Any) -> None:
        """Flags, names, attributes; not the values, but for a symbolic one in their place."""
        attributes = vars(item)
        held = {k: v for k, v in attributes.items() if k != "_value"}
        value = attributes.get("_value")

        def put() -> None:
            for name in [n for n in attributes if n != "_value" and n not in held]:
                del attributes[name]
            for name, one in held.items():
                if attributes.get(name, held) is not one:
                    attributes[name] = one
            if isinstance(attributes.get("_value"), KerasTensor):
                attributes["_value"] = value

        self._undo.append(put)

    def _array(self, item: np.ndarray[Any, Any]) -> None:
        if item.nbytes <= LARGEST_ARRAY and item.flags.writeable:
            copy = item.copy()
            self._undo.append(partial(_put_array, item, copy))
        if item.dtype.hasobject:
            self._more(item.ravel().tolist())

    def _object(self, item: Any) -> None:
        package = type(item).__module__.partition(".")[0]
        if isinstance(item, random.Random):
            state = item.getstate()
            self._undo.append(lambda: item.setstate(state))
        elif package == "numpy":
            self._numpy_random(item)
        elif package == "torch":
            self._torch(item)
        elif package == "tensorflow":
            self._tensorflow(item)
        else:
            self._attributes(item)

    def _numpy_random(self, item: Any) -> None:
        if isinstance(item, np.random.Generator):
            item = item.bit_generator
        if isinstance(item, np.random.RandomState):
            kept = item.get_state(legacy=False)
            self._undo.append(lambda: item.set_state(kept))
        elif isinstance(item, np.random.BitGenerator):
            state = item.state

            def put() -> None:
                item.state = state

            self._undo.append(put)

    def _torch(self, item: Any) -> None:
        torch = sys.modules["torch"]
        if isinstance(item, torch.nn.Module):
            self._attributes(item)
        elif isinstance(item, torch.Generator):
            state = item.get_state()
            self._undo.append(lambda: item.set_state(state))
        elif isinstance(item, torch.Tensor) and item.device.type != "meta":
            self._tensor(torch, item)

    def _tensor(self, torch: Any, item: Any) -> None:
        if item.numel() * item.element_size() > LARGEST_ARRAY:
            return
        version, held, copy, grad = item._version, item.data, item.detach().clone(), item.grad if item.is_leaf else None

        def put() -> None:
            if item.data_ptr() != held.data_ptr() or item.shape != held.shape or item.dtype != held.dtype:
                item.data = held
            if item._version != version and not torch.equal(item, copy):
                with torch.no_grad():
                    item.data.copy_(copy)
            if item.is_leaf and item.grad is not grad:
                item.grad = grad

        self._undo.append(put)

    def _tensorflow(self, item: Any) -> None:
        tf = sys.modules["tensorflow"]
        module = type(item).__module__
        if module.startswith(("tensorflow.python.trackable.", "tensorflow.python.util.object_identity")):
            wrapped = getattr(item, "__wrapped__", None)  # of dicts and tuples that TensorFlow keeps account of
            if wrapped is not None:
                self._pending.append(wrapped)
            elif type(item).__name__ != "TrackableReference":
                self._attributes(item)
            return
        if isinstance(item, tf.random.Generator):
            item = item.state
        if not isinstance(item, tf.Variable) or not tf.executing_eagerly():
            return
        copy = item.numpy()

        def put() -> None:
            if not np.array_equal(item.numpy(), copy, equal_nan=copy.dtype.kind in "fc"):
                item.assign(copy)

        self._undo.append(put)


_KINDS: list[tuple[Any, Callable[[Snapshot, Any], None]]] = [
    (type, Snapshot._class), (tuple, Snapshot._tuple), (frozenset, Snapshot._frozenset), (dict, Snapshot._mapping),
    (list, Snapshot._list), ((set, deque, bytearray, array), Snapshot._collection),
    (FunctionType, Snapshot._function), (MethodType, Snapshot._method), (partial, Snapshot._partial),
    (Variable, Snapshot._variable), (np.ndarray, Snapshot._array),
    ((Initializer, InputSpec, KerasTensor, Node), Snapshot._nothing), (object, Snapshot._object),
]  # fmt: skip
_HANDLERS: dict[type, Callable[[Snapshot, Any], None]] = {}
LOOKED_INTO = frozenset({"numpy", "torch", "tensorflow"})
"""Foreign packages some of whose objects have an entry of their own."""


def _handler(kind: type) -> Callable[[Snapshot, Any], None]:
    found = next(f for types, f in _KINDS if issubclass(kind, types))
    package = kind.__module__.partition(".")[0]
    return Snapshot._nothing if found is Snapshot._object and package in FOREIGN - LOOKED_INTO else found


@cache
def _structure(kind: type) -> tuple[list[type], list[Any]]:
    """The classes of a type that are the user's own, and its slots."""
    own = [cls for cls in kind.__mro__ if cls.__module__.partition(".")[0] not in FRAMEWORKS]
    slots = [
        slot
        for cls in kind.__mro__
        if "__slots__" in cls.__dict__
        for name, slot in cls.__dict__.items()
        if type(slot).__name__ == "member_descriptor" and name not in ("__dict__", "__weakref__")
    ]
    return own, slots


def _same(items: Any, held: list[Any]) -> bool:
    return len(items) == len(held) and all(map(is_, items, held))


def _same_dict(container: dict[Any, Any], keys: list[Any], values: list[Any]) -> bool:
    return _same(dict.keys(container), keys) and all(map(is_, dict.values(container), values))


def _refill_dict(container: dict[Any, Any], keys: list[Any], values: list[Any]) -> None:
    """By the methods of dict itself, whatever the class makes of them."""
    base: Any = OrderedDict if isinstance(container, OrderedDict) else dict
    base.clear(container)
    for key, value in zip(keys, values, strict=True):
        base.__setitem__(container, key, value)


def _put_items(container: Any, held: list[Any]) -> None:
    if isinstance(container, bytearray):
        if list(container) != held:
            container[:] = bytes(held)
        return
    if isinstance(container, array):
        if list(container) != held:
            container[:] = array(container.typecode, held)
        return
    if isinstance(container, set):
        if len(container) != len(held) or {id(a) for a in container} != {id(a) for a in held}:
            set.clear(container)
            set.update(container, held)
    elif not _same(container, held):
        deque.clear(container)
        deque.extend(container, held)


def _slot(item: Any, slot: Any) -> Any:
    try:
        return slot.__get__(item)
    except AttributeError:
        return NOTHING


def _put_slot(item: Any, slot: Any, held: Any) -> None:
    if _slot(item, slot) is held:
        return
    if held is NOTHING:
        slot.__delete__(item)
    else:
        slot.__set__(item, held)


def _put_class(cls: type, before: dict[str, Any]) -> None:
    now = vars(cls)
    for name in [n for n in now if n not in before and n not in ("__dict__", "__weakref__")]:
        if not name.startswith("__"):
            type.__delattr__(cls, name)
    for name, held in before.items():
        if name not in now or now[name] is not held:
            type.__setattr__(cls, name, held)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return NOTHING


def _put_cell(cell: CellType, held: Any) -> None:
    if _content(cell) is held:
        return
    if held is NOTHING:
        del cell.cell_contents
    else:
        cell.cell_contents = held


def _put_array(item: np.ndarray[Any, Any], copy: np.ndarray[Any, Any]) -> None:
    if item.shape == copy.shape and item.tobytes() != copy.tobytes():
        item[...] = copy
