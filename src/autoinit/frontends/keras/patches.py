"""What is changed in Keras, for the time of one trace, so that every operation reaches the tracer.

Patches are global to the process: they are installed under a lock, inside a ``try``, and undone in reverse.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial, wraps
from types import ModuleType
from typing import Any

from keras import KerasTensor, Operation, Variable, layers, ops
from keras.src import backend
from keras.src.backend.common import global_state, keras_tensor
from keras.src.backend.common.keras_tensor import any_symbolic_tensors
from keras.src.layers import layer as layer_module
from keras.src.ops import operation

from ..carried_out import carried_out
from ..lock import WALKING
from .apart import private_value
from .backend_calls import DRAWS, as_operation, counterpart, functions
from .call import is_number
from .loops import CONTROL, follow_steps
from .native import native_functions
from .tracer import Tracer

Undo = list[tuple[Any, str, Any]]
MISSING = object()


@contextmanager
def tracing(tracer: Tracer) -> Iterator[None]:
    """Inside, everything that happens to symbolic tensors and parameters is recorded by `tracer`."""
    undo: Undo = []
    with WALKING, names_kept(), native_functions(tracer), backend.StatelessScope(initialize_variables=False):
        try:
            _patch_calls(tracer, undo)
            _patch_comparisons(tracer, undo)
            _patch_bookkeeping(tracer, undo)
            _patch_variables(tracer, undo)
            _patch_backend(tracer, undo)
            yield
        finally:
            carried_out(partial(_undone, undo))


def _undone(undo: Undo) -> None:
    while undo:
        owner, name, original = undo[-1]
        if original is not MISSING:
            setattr(owner, name, original)
        elif name in owner.__dict__:
            delattr(owner, name)
        undo.pop()


@contextmanager
def names_kept() -> Iterator[None]:
    """The counters that name layers are as before afterwards."""
    counters = global_state.get_global_attribute("object_name_uids")
    before = None if counters is None else dict(counters)
    try:
        yield
    finally:
        counters = global_state.get_global_attribute("object_name_uids")
        if counters is not None:
            counters.clear()
            counters.update(before or {})


def _set(undo: Undo, owner: Any, name: str, value: Any) -> None:
    undo.append((owner, name, owner.__dict__.get(name, MISSING)))
    setattr(owner, name, value)


def _patch_calls(tracer: Tracer, undo: Undo) -> None:
    """Operations and layers come to the tracer; no node is put on a layer; no loss is added."""
    plain_call, plain_symbolic, plain_build = Operation.__call__, Operation.symbolic_call, layers.Layer._maybe_build
    plain_node, plain_loss, plain_iterate = layer_module.Node, layers.Layer.add_loss, KerasTensor.__iter__

    @wraps(plain_call)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracer.tick()
        if tracer.idle:
            return plain_call(self, *args, **kwargs)
        if isinstance(self, layers.Layer):
            return tracer.layer(self, args, kwargs)
        if tracer.any_symbolic((args, kwargs)):
            return tracer.operation(self, args, kwargs)
        return self.call(*args, **kwargs)

    @wraps(plain_symbolic)
    def symbolic_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracer.tick()
        if tracer.idle:
            return plain_symbolic(self, *args, **kwargs)
        return tracer.operation(self, args, kwargs)

    @wraps(plain_build)
    def maybe_build(self: Any, *args: Any, **kwargs: Any) -> Any:
        if tracer.elsewhere:
            return plain_build(self, *args, **kwargs)
        if self.built:
            return None
        with tracer.pause():
            return plain_build(self, *args, **kwargs)

    def node(*args: Any, **kwargs: Any) -> Any:
        return plain_node(*args, **kwargs) if tracer.idle else None

    def add_loss(self: Any, loss: Any) -> Any:
        return plain_loss(self, loss) if tracer.idle else None

    def iterate(self: Any) -> Any:
        if tracer.idle:
            return plain_iterate(self)
        return iter([self[k] for k in range(follow_steps(int(self.shape[0])))])

    def any_symbolic(args: Any = None, kwargs: Any = None) -> bool:
        if tracer.idle:
            return bool(any_symbolic_tensors(args, kwargs))
        return tracer.any_symbolic((args, kwargs))

    _set(undo, Operation, "__call__", call)
    _set(undo, Operation, "symbolic_call", symbolic_call)
    _set(undo, layers.Layer, "_maybe_build", maybe_build)
    _set(undo, layers.Layer, "add_loss", add_loss)
    _set(undo, layer_module, "Node", node)
    _set(undo, KerasTensor, "__iter__", iterate)
    for module in _holders_of_symbolic_test(len(sys.modules)):
        _set(undo, module, "any_symbolic_tensors", any_symbolic)


def _patch_comparisons(tracer: Tracer, undo: Undo) -> None:
    """``x == 0`` is an operation, as it is with real tensors; symbolic ones only compare identities."""
    for name, function in (("__eq__", ops.equal), ("__ne__", ops.not_equal)):

        def compare(self: Any, other: Any, function: Any = function) -> Any:
            return NotImplemented if tracer.idle or not is_number(other) else function(self, other)

        _set(undo, KerasTensor, name, compare)


def _patch_bookkeeping(tracer: Tracer, undo: Undo) -> None:
    """Operations and tensors of a trace need no unique names and no configuration: that is most of their cost."""
    plain_new, plain_name = Operation.__new__, keras_tensor.auto_name

    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if tracer.idle or issubclass(cls, layers.Layer):
            return plain_new(cls, *args, **kwargs)
        made = object.__new__(cls)
        made.__dict__.update(_lock=True, _auto_config=None)
        return made

    def auto_name(prefix: str) -> str:
        return plain_name(prefix) if tracer.idle else prefix

    _set(undo, Operation, "__new__", staticmethod(new))
    _set(undo, operation, "auto_name", auto_name)
    _set(undo, keras_tensor, "auto_name", auto_name)


@cache
def _holders_of_symbolic_test(_: int) -> list[ModuleType]:
    """Keras modules that imported the test by name (looked up again when more modules are loaded)."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("keras")
        and getattr(module, "__dict__", {}).get("any_symbolic_tensors") is any_symbolic_tensors
    ]


def _patch_variables(tracer: Tracer, undo: Undo) -> None:
    """The value of a parameter is its symbolic leaf; nothing symbolic is assigned."""
    for cls in Variable.__mro__:
        plain = cls.__dict__.get("value")
        if isinstance(plain, property):
            _set(undo, cls, "value", _symbolic_value(tracer, plain))
    owner = next(cls for cls in Variable.__mro__ if "assign" in cls.__dict__)
    plain_assign = owner.__dict__["assign"]

    def assign(self: Any, value: Any) -> Any:
        if not tracer.idle and tracer.is_symbolic(value):
            return value
        return plain_assign(self, value)

    _set(undo, owner, "assign", assign)


def _symbolic_value(tracer: Tracer, plain: property) -> property:
    def value(self: Any) -> Any:
        if not tracer.idle and tracer.is_parameter(self):
            return self._maybe_autocast(tracer.leaf(self))
        if tracer.elsewhere or not (tracer.closed if tracer.idle else tracer.foreign):
            return plain.fget(self)  # type: ignore[misc]
        own = private_value(self, tracer.private)
        return plain.fget(self) if own is None else self._maybe_autocast(own)  # type: ignore[misc]

    return property(value)


def _patch_backend(tracer: Tracer, undo: Undo) -> None:
    made: dict[int, Callable[..., Any]] = {}
    for module, name, sub, function in functions():
        if id(function) not in made:
            made[id(function)] = _redirected(tracer, sub, function)
        _set(undo, module, name, made[id(function)])


def _redirected(tracer: Tracer, sub: str, function: Any) -> Callable[..., Any]:
    name = function.__name__
    control = CONTROL.get(f"{sub}.{name}")
    instead = counterpart(sub, name)
    draws = sub == "random" and name in DRAWS
    depth = [0]

    @wraps(function)
    def redirected(*args: Any, **kwargs: Any) -> Any:
        tracer.tick()
        if tracer.idle:
            return function(*args, **kwargs)
        if control is not None:
            return control(*args, **kwargs)
        if not draws and not tracer.any_symbolic((args, kwargs)):
            return function(*args, **kwargs)
        if sub == "core" and name == "shape":
            return tuple(args[0].shape)
        if instead is not None and depth[0] < 2:
            if depth[0]:  # it looks at its first argument only, which is an array beside a weight
                args, kwargs = tracer.with_constants(args), tracer.with_constants(kwargs)
            depth[0] += 1
            try:
                return instead(*args, **kwargs)
            finally:
                depth[0] -= 1
        op, args, kwargs = as_operation(function, sub, args, kwargs)
        return tracer.operation(op, args, kwargs)

    return redirected
