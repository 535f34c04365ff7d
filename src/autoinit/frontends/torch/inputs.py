"""What the user gave as inputs, as fake or real tensors to call the model with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from ...core.exchangeable import complex_sample
from ...core.inputs import Input, measured_input
from ...core.signal import Signal
from ...core.unknown import measured
from ...errors import InputError

EXAMPLES = "a tensor, a shape such as (8, 3, 32, 32), autoinit.Input(...), or a tuple or dict of these"


def call_arguments(inputs: Any) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword inputs, each a tensor, an `Input`, or something passed on as it is."""
    if inputs is None or isinstance(inputs, (bool, int, float, str)):
        raise InputError("PyTorch models do not know their inputs", where="inputs", received=repr(inputs),
                         fix=f"give {EXAMPLES}")  # fmt: skip
    if isinstance(inputs, Mapping):
        return [], {str(k): _one(v, str(k)) for k, v in inputs.items()}
    if _is_shape(inputs):
        return [Input(tuple(inputs))], {}
    if isinstance(inputs, (tuple, list)):
        args = list(inputs)
        kwargs: dict[str, Any] = {}
        if args and isinstance(args[-1], Mapping) and len(args) > 1:
            kwargs = {str(k): _one(v, str(k)) for k, v in args.pop().items()}
        return [_one(a, f"inputs[{k}]") for k, a in enumerate(args)], kwargs
    return [_one(inputs, "inputs")], {}


def _is_shape(value: Any) -> bool:
    return (
        isinstance(value, (tuple, list))
        and len(value) > 0
        and all(n is None or (isinstance(n, int) and not isinstance(n, bool)) for n in value)
    )


def _one(value: Any, where: str) -> Any:
    if isinstance(value, (torch.Tensor, Input)):
        return value
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if _is_shape(value):
        return Input(tuple(value))
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(_one(v, f"{where}[{k}]") for k, v in enumerate(value))
    if isinstance(value, Mapping):
        return {k: _one(v, f"{where}[{k!r}]") for k, v in value.items()}
    raise InputError("this cannot be an input", where=where, received=type(value).__name__, fix=f"give {EXAMPLES}")


def dtype_of(item: Input, model: nn.Module) -> torch.dtype:
    """The dtype of an input: as described, or the model's floating dtype, or int64 for a vocabulary."""
    if item.dtype is None:
        if item.vocabulary is not None:
            return torch.int64
        floating = next((p.dtype for p in model.parameters() if p.dtype.is_floating_point), torch.float32)
        return floating
    dtype = getattr(torch, item.dtype, None) if isinstance(item.dtype, str) else item.dtype
    if not isinstance(dtype, torch.dtype):
        raise InputError("unknown dtype", where="Input", received=repr(item.dtype), fix="dtype='float32' or 'int64'")
    counted = not dtype.is_floating_point and not dtype.is_complex and dtype is not torch.bool
    if counted and item.vocabulary is None:
        raise InputError("an integer input needs the range of its values", where="Input", received=str(dtype),
                         fix="Input(shape, vocabulary=1000), or give an integer tensor")  # fmt: skip
    return dtype


def device_of(model: nn.Module) -> torch.device:
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    return torch.device("cpu") if device.type == "meta" else device


def signal_of(item: Any) -> Signal | None:
    """The statistics of a floating input; None for integers (they are constants)."""
    if isinstance(item, Input):
        return None if item.vocabulary is not None else item.signal()
    if isinstance(item, torch.Tensor) and item.is_floating_point():
        if item.device.type == "meta":
            return Input(tuple(item.shape)).signal()
        return measured_input(item.detach().to(torch.float64).cpu().numpy())
    if isinstance(item, torch.Tensor) and item.is_complex():
        if item.device.type == "meta":
            return Input(tuple(item.shape)).signal()
        return measured(item.detach().resolve_conj().cpu().numpy())
    return None


def real_tensor(item: Any, model: nn.Module, rng: np.random.Generator) -> Any:
    """A tensor to really run the model with: the user's own, or noise with the described statistics."""
    if not isinstance(item, Input):
        return item
    dtype = dtype_of(item, model)
    made = torch.as_tensor(item.sample(rng))
    if dtype.is_complex:
        made = torch.as_tensor(complex_sample(item.signal(), rng))
    return made.to(dtype=dtype, device=device_of(model))
