"""The model's variables: which are parameters, what they are called, how they are read."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import keras
import numpy as np
from keras.src.backend.common import global_state
from numpy.typing import NDArray

from ...core.graph.graph import Parameter, ParameterView

LARGEST_READ = 2**24
"""Parameters beyond this many entries are measured on an evenly spaced part of their rows."""


def layers_of(model: keras.layers.Layer) -> list[keras.layers.Layer]:
    """The model and all layers in it."""
    return list(model._flatten_layers())


def parameters_of(model: keras.layers.Layer) -> dict[str, Any]:
    """Parameters by name: floating weights that were made to be trained, frozen ones included.

    State (running statistics, seeds, counters) is none of them. The name says where the variable is in the model, by
    the names of the layers that hold it: ``block/dense/kernel``. (Its own path also depends on the scope in which it
    was made, so that a model and its copy from JSON differ.) Where two have the same one, the later ones are numbered.
    """
    own = {id(v) for layer in layers_of(model) for v in layer._trainable_variables}
    named: dict[str, Any] = {}
    seen: set[int] = set()
    for layer, prefix in layers_in_order(model):
        for variable in [*layer._trainable_variables, *layer._non_trainable_variables]:
            if id(variable) in seen or id(variable) not in own or not is_float(variable.dtype):
                continue
            seen.add(id(variable))
            name, k = prefix + variable.name, 1
            while name in named:
                k += 1
                name = f"{prefix}{variable.name}#{k}"
            named[name] = variable
    return named


def layers_in_order(model: keras.layers.Layer) -> list[tuple[keras.layers.Layer, str]]:
    """The model and its layers with their place, parents first, in the order in which they are held.

    Without recursion, however deep models are nested.
    """
    found: list[tuple[keras.layers.Layer, str]] = []
    seen: set[int] = set()
    pending = [(model, "")]
    while pending:
        layer, prefix = pending.pop()
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        found.append((layer, prefix))
        pending.extend((inner, f"{prefix}{inner.name}/") for inner in reversed(layer._layers))
    return found


def is_float(dtype: Any) -> bool:
    return "float" in keras.backend.standardize_dtype(dtype)


def shape_of(variable: Any) -> tuple[int, ...]:
    """The shape as plain integers (`Variable.shape` makes a TensorShape on TensorFlow, which is slow)."""
    return tuple(int(n) for n in getattr(variable, "_shape", None) or variable.shape)


def has_values(variable: Any) -> bool:
    """Whether the variable's memory exists (not so while its initialization is deferred)."""
    return getattr(variable, "_value", None) is not None


def give_values(variable: Any) -> None:
    """Carry out a deferred initialization now, and only this one."""
    if has_values(variable):
        return
    variable._deferred_initialize()
    pending = global_state.get_global_attribute("uninitialized_variables") or []
    global_state.set_global_attribute("uninitialized_variables", [v for v in pending if v is not variable])


def as_before(variable: Any) -> Callable[[], None]:
    """What brings the present values of a variable back, or that it has none yet."""
    if has_values(variable):
        copy = keras.ops.copy(variable._value)
        return lambda: variable.assign(copy)
    initializer = variable._initializer

    def undo() -> None:
        variable._value, variable._initializer = None, initializer
        pending = global_state.get_global_attribute("uninitialized_variables") or []
        if not any(v is variable for v in pending):
            global_state.set_global_attribute("uninitialized_variables", [*pending, variable])

    return undo


def autograd_mode() -> Callable[[], None]:
    """What brings PyTorch's present mode back: `Variable.assign` switches gradients off, and an interrupt that comes
    between its last line and the end of its block leaves them so."""
    if keras.backend.backend() != "torch":
        return lambda: None
    import torch

    enabled = torch.is_grad_enabled()

    def undo() -> None:
        torch.set_grad_enabled(enabled)

    return undo


def values_of(variable: Any) -> NDArray[Any] | None:
    """The present values, without autocasting; None if there are none."""
    if not has_values(variable):
        return None
    raw = variable._value
    if getattr(getattr(raw, "device", None), "type", None) == "meta":
        return None
    return as_array(raw)


def as_array(tensor: Any) -> NDArray[Any]:
    """A backend tensor as a NumPy array of a type that NumPy knows."""
    if isinstance(tensor, np.ndarray):
        array = tensor
    elif hasattr(tensor, "detach"):
        tensor = tensor.detach()
        array = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).cpu().numpy()
    elif callable(getattr(tensor, "numpy", None)):
        array = np.asarray(tensor.numpy())
    else:
        array = np.asarray(tensor)
    return array.astype(np.float32) if array.dtype.kind == "V" or str(array.dtype) == "bfloat16" else array


def describe_parameters(parameters: dict[str, Any]) -> dict[str, Parameter]:
    return {
        name: Parameter(
            name, shape_of(v), keras.backend.standardize_dtype(v.dtype), bool(v.trainable),
            _reader(v), (), _zero_test(v),
        )
        for name, v in parameters.items()
    }  # fmt: skip


def _reader(variable: Any) -> Callable[[ParameterView | None], Any]:
    def read(view: ParameterView | None) -> Any:
        array = values_of(variable)
        if array is None or array.size == 0:
            return None
        if view is not None and not (view.whole and tuple(view.shape) == array.shape):
            flat = np.ascontiguousarray(array).reshape(-1)
            strides = tuple(s * flat.itemsize for s in view.stride)
            array = np.lib.stride_tricks.as_strided(flat[view.offset :], view.shape, strides)
        if array.size > LARGEST_READ and array.ndim:
            array = array[:: ceil(array.size / LARGEST_READ)]
        return array.astype(np.float32 if array.size > 2**20 else np.float64)

    return read


def _zero_test(variable: Any) -> Callable[[], bool]:
    def is_zero() -> bool:
        array = values_of(variable)
        if array is None or array.size == 0:
            return False
        return bool(array.reshape(-1)[0] == 0) and not bool(np.any(array))

    return is_zero
