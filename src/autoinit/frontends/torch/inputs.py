"""What the user gave as inputs, as fake or real tensors to call the model with."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from ...core.checks import brief, whole
from ...core.inputs import Input, measured_input
from ...core.signal.measured import from_array
from ...core.signal.samples import complex_sample
from ...core.signal.signal import Signal
from ...errors import InputError
from .structures import Unfit, is_leaf, leaves, mapped, place_in, tuple_like

EXAMPLES = "a tensor, a shape such as (8, 3, 32, 32), autoinit.Input(...), or a tuple or dict of these"


def call_arguments(inputs: Any, model: nn.Module | None = None) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword inputs, each a tensor, an `Input`, or something passed on as it is.

    With a model, arrays of NumPy in double precision become its floating dtype.
    """
    _refuse_whole(inputs)
    args, kwargs = _arranged(inputs, model)
    try:
        args = [_one(a, f"inputs[{k}]" if len(args) > 1 else "inputs", model) for k, a in enumerate(args)]
        kwargs = {k: _one(v, k, model) for k, v in kwargs.items()}
    except RecursionError:
        raise InputError("the inputs contain themselves, or are nested too deeply", where="inputs",
                         received=type(inputs).__name__, fix=f"give {EXAMPLES}") from None  # fmt: skip
    found = leaves((args, kwargs))
    if not found and isinstance(inputs, (tuple, list)) and _numbers_alone(inputs):
        raise InputError("numbers in lists are no tensor", where="inputs", received=brief(inputs),
                         fix="torch.tensor(...), or a shape (batch, features)")  # fmt: skip
    tensors = [t for t in found if isinstance(t, torch.Tensor)]
    if tensors and len(tensors) == len(found) and all(t.numel() == 0 for t in tensors):
        raise InputError("there is nothing in this batch", where="inputs", received=str(tuple(tensors[0].shape)),
                         fix="a batch with at least one sample, or a shape")  # fmt: skip
    return args, kwargs


def _refuse_whole(inputs: Any) -> None:
    """What people give by mistake, with what they may have meant."""
    size = whole(inputs) if not isinstance(inputs, torch.Tensor) else None
    why, fix = "PyTorch models do not know their inputs", f"give {EXAMPLES}"
    if size is not None:
        why = "a shape has the batch axis, too, and is written as a tuple"
        fix = f"(batch, {size}), for example (64, {size})" if size > 0 else fix
    elif isinstance(inputs, nn.Module):
        why, inputs = "this is a model, not an input", type(inputs).__name__
    elif isinstance(inputs, (str, bytes, bytearray)):
        why = "a text is no input"
    elif not (inputs is None or isinstance(inputs, (bool, float, complex, str, bytes, bytearray, np.generic))):
        return
    raise InputError(why, where="inputs", received=brief(inputs), fix=fix)


def _arranged(inputs: Any, model: nn.Module | None) -> tuple[list[Any], dict[str, Any]]:
    """One argument, several, or several by name."""
    if isinstance(inputs, Mapping):
        return [], {str(k): v for k, v in inputs.items()}
    if _is_shape(inputs) or not isinstance(inputs, (tuple, list)):
        return [inputs], {}
    names = getattr(type(inputs), "_fields", None)
    if names is not None or type(inputs).__module__ == "torch.return_types":
        return _named(inputs, tuple(names or ()), model)
    args = list(inputs)
    if len(args) > 1 and isinstance(args[-1], Mapping):
        return args, {str(k): v for k, v in args.pop().items()}
    return args, {}


def _named(inputs: Any, names: tuple[str, ...], model: nn.Module | None) -> tuple[list[Any], dict[str, Any]]:
    """A named tuple is one argument, unless forward takes its fields by their names or cannot do with one."""
    accepted = _parameters(model)
    if names and len(accepted) > 1 and set(names) <= {p.name for p in accepted}:
        return [], dict(zip(names, inputs, strict=True))
    needed = [p for p in accepted if p.default is p.empty]
    return (list(inputs), {}) if len(needed) == len(inputs) > 1 else ([inputs], {})


def _parameters(model: nn.Module | None) -> list[inspect.Parameter]:
    if model is None:
        return []
    try:
        found = inspect.signature(model.forward).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY, p.KEYWORD_ONLY)]


def _is_shape(value: Any) -> bool:
    if not isinstance(value, (tuple, list)) or not value or hasattr(type(value), "_fields"):
        return False
    return all(n is None or (not isinstance(n, torch.Tensor) and whole(n) is not None) for n in value)


def _numbers_alone(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return bool(value) and all(_numbers_alone(v) for v in value)
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _one(value: Any, where: str, model: nn.Module | None) -> Any:
    """One argument: shapes become `Input`s, arrays tensors; containers are the same with these inside."""
    if _is_shape(value):
        return Input(tuple(value))
    if isinstance(value, tuple) and not hasattr(value, "__dict__"):
        return tuple_like(value, [_one(v, place_in(value, k, where), model) for k, v in enumerate(value)])
    if type(value) is list:
        return [_one(v, f"{where}[{k}]", model) for k, v in enumerate(value)]
    if type(value) is dict:
        return {k: _one(v, f"{where}[{k!r}]", model) for k, v in value.items()}
    _refuse(value, where)
    if not is_leaf(value) and hasattr(type(value), "__array__") and not isinstance(value, (np.generic, Mapping, tuple)):
        value = np.asarray(value)
    try:
        return mapped(lambda leaf: _tensor(leaf, where, model), value, where)
    except Unfit as error:
        raise InputError("this cannot be an input, or be rebuilt with other tensors inside", where=error.where,
                         received=type(error.item).__name__, fix=f"give {EXAMPLES}") from None  # fmt: skip


def _refuse(value: Any, where: str) -> None:
    fix = f"give {EXAMPLES}"
    if isinstance(value, (DataLoader, Dataset, Iterator)):
        fix = "give one batch of it, such as next(iter(loader))[0], or a shape"
    elif not isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type, types.ModuleType)):
        return
    raise InputError("this cannot be an input", where=where, received=type(value).__name__, fix=fix)


def _tensor(leaf: Any, where: str, model: nn.Module | None) -> Any:
    if isinstance(leaf, torch.Tensor):
        if leaf.is_nested:
            raise InputError("nested tensors are not followed", where=where, received="a nested tensor",
                             fix="a padded tensor: torch.nested.to_padded_tensor(x, 0.0)")  # fmt: skip
        return leaf
    if isinstance(leaf, Input):
        return leaf
    try:
        array = np.ascontiguousarray(leaf).reshape(leaf.shape)
        if not array.flags.writeable or not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        if array.dtype.kind == "f" and array.dtype.itemsize >= 8:  # doubles are NumPy's habit, not a choice
            return torch.from_numpy(array.astype(np.float64)).to(floating_dtype(model))
        return torch.from_numpy(array)
    except TypeError:
        raise InputError("an array of this kind is no tensor", where=where, received=f"dtype {leaf.dtype}",
                         fix="an array of numbers: array.astype('float32')") from None  # fmt: skip


def floating_dtype(model: nn.Module | None) -> torch.dtype:
    """Of the first parameter that has one."""
    parameters = () if model is None else model.parameters()
    return next((p.dtype for p in parameters if p.dtype.is_floating_point), torch.get_default_dtype())


def dtype_of(item: Input, model: nn.Module) -> torch.dtype:
    """The dtype of an input: as described, or the model's floating dtype, or int64 for a vocabulary."""
    if item.dtype is None:
        return torch.int64 if item.integers is not None else floating_dtype(model)
    dtype = item.dtype
    if not isinstance(dtype, (str, torch.dtype)):
        try:
            dtype = np.dtype(dtype).name
        except Exception:  # NumPy asks strangers what they are
            dtype = None
    dtype = getattr(torch, dtype.removeprefix("torch."), None) if isinstance(dtype, str) else dtype
    if not isinstance(dtype, torch.dtype):
        raise InputError("unknown dtype", where="Input", received=brief(item.dtype), fix="dtype='float32' or 'int64'")
    counted = not dtype.is_floating_point and not dtype.is_complex and dtype is not torch.bool
    if counted and item.integers is None:
        raise InputError("an integer input needs the range of its values", where="Input", received=str(dtype),
                         fix="Input(shape, vocabulary=1000), or give an integer tensor")  # fmt: skip
    return dtype


def device_of(model: nn.Module) -> torch.device:
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    return torch.device("cpu") if device.type == "meta" else device


def signal_of(item: Any) -> Signal | None:
    """The statistics of a floating input; None for integers and sparse or empty tensors (they are constants)."""
    if isinstance(item, Input):
        return None if item.integers is not None else item.signal()
    if isinstance(item, torch.Tensor) and item.is_floating_point() and item.layout is torch.strided and item.numel():
        if item.device.type == "meta":
            return Input(tuple(item.shape)).signal()
        return measured_input(item.detach().to(torch.float64).cpu().numpy())
    if isinstance(item, torch.Tensor) and item.is_complex():
        if item.device.type == "meta":
            return Input(tuple(item.shape)).signal()
        return from_array(item.detach().resolve_conj().cpu().numpy())
    return None


def real_tensor(item: Any, model: nn.Module, rng: np.random.Generator) -> Any:
    """A tensor to really run the model with: a copy of the user's own, or noise with the described statistics."""
    if isinstance(item, torch.Tensor):
        return item.detach().clone().requires_grad_(item.requires_grad)
    if not isinstance(item, Input):
        return item
    dtype = dtype_of(item, model)
    made = torch.as_tensor(item.sample(rng))
    if dtype.is_complex:
        made = torch.as_tensor(complex_sample(item.signal(), rng))
    return made.to(dtype=dtype, device=device_of(model))
