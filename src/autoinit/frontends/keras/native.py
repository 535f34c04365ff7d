"""Functions of TensorFlow and PyTorch themselves on symbolic tensors, where the framework lets others take part.

TensorFlow asks global dispatchers when a function does not know its arguments; PyTorch asks ``__torch_function__``.
JAX has nothing of the kind. A native function becomes one operation: that of keras.ops where it is the same function
of one tensor, or else an opaque one of its own, named after it ("NativeGather").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import keras
from keras import KerasTensor
from keras.src import backend

from .backend_calls import native_operation

if TYPE_CHECKING:
    from .tracer import Tracer

SAME = {
    "abs", "cos", "elu", "erf", "exp", "expm1", "log", "log1p", "negative", "relu", "relu6",
    "rsqrt", "selu", "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "softsign", "sqrt", "square", "tan", "tanh",
}  # fmt: skip
"""Functions of one tensor that keras.ops has under the same name."""


@contextmanager
def native_functions(tracer: Tracer) -> Iterator[None]:
    """Inside, native functions on symbolic tensors are recorded too."""
    if backend.backend() == "tensorflow":
        with _tensorflow_dispatch(tracer):
            yield
    elif backend.backend() == "torch":
        with _torch_dispatch(tracer):
            yield
    else:
        yield


def _followed(tracer: Tracer, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = getattr(function, "__name__", "")
    if name == "__setitem__" or kwargs.get("out") is not None or (name.endswith("_") and not name.endswith("__")):
        raise NotImplementedError(f"{name} writes into a tensor of the framework, where it cannot be followed")
    given = [*args, *(v for k, v in kwargs.items() if k not in ("name", "inplace") and v is not None)]
    if name in SAME and len(given) == 1:
        return getattr(keras.ops, name)(given[0])
    return tracer.operation(native_operation(function), args, kwargs)


@contextmanager
def _tensorflow_dispatch(tracer: Tracer) -> Iterator[None]:
    from tensorflow.python.util import dispatch

    class Dispatcher(dispatch.GlobalOpDispatcher):
        def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
            kwargs = kwargs or {}
            if tracer.idle or not tracer.any_symbolic((args, kwargs)):
                return self.NOT_SUPPORTED
            return _followed(tracer, op, tuple(args), dict(kwargs))

    dispatcher = Dispatcher()
    try:
        dispatcher.register()
        yield
    finally:
        if dispatcher in dispatch._GLOBAL_DISPATCHERS:
            dispatch._GLOBAL_DISPATCHERS.remove(dispatcher)


@contextmanager
def _torch_dispatch(tracer: Tracer) -> Iterator[None]:
    def torch_function(cls: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if tracer.idle:
            return NotImplemented
        return _followed(tracer, function, tuple(args), dict(kwargs or {}))

    try:
        KerasTensor.__torch_function__ = classmethod(torch_function)
        yield
    finally:
        if "__torch_function__" in vars(KerasTensor):
            del KerasTensor.__torch_function__
