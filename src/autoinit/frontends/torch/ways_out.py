"""What to do about a forward that failed, as far as its error and what it was given tell."""

from __future__ import annotations

import inspect
from typing import Any

import torch
from torch import nn

from ...core.inputs import Input
from .inputs import floating_dtype
from .structures import leaves


def described(args: Any, kwargs: Any) -> str:
    """What was received."""
    return f"inputs {', '.join(_described(item) for item in leaves((args, kwargs))) or 'without a tensor'}"


def _described(item: Any) -> str:
    if isinstance(item, Input):
        return f"{tuple(item.shape)}" + (f" {item.dtype}" if item.dtype else "")
    return f"{tuple(item.shape)} {item.dtype}"


def way_out(error: Exception, model: nn.Module, args: Any, kwargs: Any) -> str:
    """How to mend it, in a line."""
    text, given = str(error), leaves((args, kwargs))
    if "numpy()" in text:
        return "forward leaves PyTorch for NumPy, where it cannot be followed: @autoinit.rule(Layer) for that layer"
    if isinstance(error, NotImplementedError) and 'the required "forward"' in text:
        return "give a module that has a forward: a part of this one, or nn.Sequential(...) of its parts"
    if isinstance(error, TypeError) and (wanted := _wanted(model, args, kwargs)):
        return wanted
    if "'indices'" in text and (asked := _indices(model, given)):
        return asked
    if "dtype" in text and (dtype := _other_dtype(model, given)):
        return f"give inputs in the model's dtype, inputs.to({dtype}), or a shape; does model(inputs) work?"
    return "check the shape (batch included) and dtype of inputs; does model(inputs) work?"


def _wanted(model: nn.Module, args: Any, kwargs: Any) -> str | None:
    """What forward takes, if that is not what was given."""
    try:
        taken = inspect.signature(model.forward)
    except (TypeError, ValueError):
        return None
    try:
        taken.bind(*args, **kwargs)
    except TypeError:
        names = ", ".join(_shown(p) for p in taken.parameters.values())
        return f"forward takes ({names}): one input, a tuple of several, or a dict by these names, and nothing else"
    return None


def _shown(parameter: inspect.Parameter) -> str:
    """As in a signature, without types and values."""
    return str(parameter.replace(annotation=parameter.empty, default=parameter.empty)) + (
        "" if parameter.default is parameter.empty else "=..."
    )


def _indices(model: nn.Module, given: list[Any]) -> str | None:
    """An embedding was given numbers: how many words the first one has, and which shape it was."""
    tables = [m.num_embeddings for m in model.modules() if isinstance(m, (nn.Embedding, nn.EmbeddingBag))]
    shape = next((tuple(item.shape) for item in given if isinstance(item, Input) and item.integers is None), None)
    if not tables or shape is None:
        return "give indices, a batch of integers: batch.long()" if tables else None
    return f"an embedding takes indices: autoinit.Input({shape}, vocabulary={tables[0]}), or a batch of integers"


def _other_dtype(model: nn.Module, given: list[Any]) -> torch.dtype | None:
    """The dtype that a tensor among the inputs should have, if it has another one."""
    wanted = floating_dtype(model)
    others = [t for t in given if isinstance(t, torch.Tensor) and t.dtype is not wanted and t.dtype is not torch.bool]
    return wanted if others else None
