"""Calls of backend functions with symbolic tensors, which Keras' own layers make here and there.

Where `keras.ops` has the same function, it is called instead. The others, and those that draw random numbers, become
operations of their own, named after the function: ``backend.random.normal`` is "RandomNormal", ``backend.nn.foo``
without a counterpart is "BackendFoo".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

from keras import KerasTensor, Operation
from keras.src import backend
from keras.src import ops as keras_ops

SUBMODULES = ("core", "numpy", "nn", "math", "linalg", "image", "random", "rnn")
LEFT_ALONE = {
    "is_tensor", "convert_to_numpy", "compute_output_spec", "device_scope", "random_seed_dtype", "to_torch_dtype",
    "get_device", "remat", "custom_gradient", "should_shard_at_init", "jax_draw_seed", "torch_seed_generator",
}  # fmt: skip
DRAWS = {"normal", "uniform", "truncated_normal", "gamma", "beta", "binomial"}
"""Random functions that take a shape: they make fresh noise."""


class BackendCall(Operation):
    """A function of the backend as an operation. `arguments` are its arguments by name, for lowerings."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        name = self.function.__name__
        if name == "dropout" and self.function.__module__.endswith("random"):
            x = args[0] if args else kwargs["inputs"]
            return KerasTensor(x.shape, dtype=x.dtype)
        if name in DRAWS and self.function.__module__.endswith("random"):
            shape = args[0] if args else kwargs["shape"]
            return KerasTensor(tuple(int(n) for n in shape), dtype=kwargs.get("dtype") or backend.floatx())
        return backend.compute_output_spec(self.function, *args, **kwargs)


@cache
def _named(name: str) -> type[BackendCall]:
    return type(name, (BackendCall,), {"__module__": __name__})


def as_operation(function: Callable[..., Any], sub: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operation for a backend function, and its arguments by name."""
    camel = "".join(word.capitalize() for word in function.__name__.split("_"))
    op = _named(("Random" if sub == "random" else "Backend") + camel)(function)
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return op, args, kwargs
    bound.apply_defaults()
    if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in bound.signature.parameters.values()):
        return op, args, kwargs
    return op, (), dict(bound.arguments)


def native_operation(function: Callable[..., Any]) -> BackendCall:
    """A function that is no part of Keras, as an operation."""
    camel = "".join(word.capitalize() for word in getattr(function, "__name__", "call").strip("_").split("_"))
    return _named("Native" + camel)(function)


@cache
def functions() -> list[tuple[ModuleType, str, str, FunctionType]]:
    """(module, name there, submodule, function) for every place where a public function of the backend is held."""
    found = []
    package = backend.backend()
    own = {sub: __import__(f"keras.src.backend.{package}.{sub}", fromlist=[sub]) for sub in SUBMODULES}
    origin: dict[int, tuple[str, FunctionType]] = {}
    for sub, module in own.items():
        for name, value in vars(module).items():
            public = isinstance(value, FunctionType) and value.__module__ == module.__name__
            if public and not name.startswith("_") and name not in LEFT_ALONE:
                origin[id(value)] = (sub, value)
    holders = [*own.values(), __import__(f"keras.src.backend.{package}", fromlist=["core"]), backend]
    for holder in holders:
        for name, value in vars(holder).items():
            if id(value) in origin and isinstance(value, FunctionType):
                found.append((holder, name, *origin[id(value)]))
    return found


@cache
def counterpart(sub: str, name: str) -> Callable[..., Any] | None:
    """The function of keras.ops that does the same with symbolic tensors."""
    module = getattr(keras_ops, sub, None) if sub != "random" else None
    found = getattr(module, name, None) or (getattr(keras_ops, name, None) if module is not None else None)
    return found if isinstance(found, FunctionType) else None
