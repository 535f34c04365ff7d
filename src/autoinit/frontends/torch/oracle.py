"""Questions whose answer needs data: values, data-dependent shapes, fresh random numbers.

They are answered from a sample (`origins.py`), and the graph notes where that was done. What depends on constants
alone is known exactly.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_map

from .leaves import tensors_in
from .schema import is_mutable, op_name

if TYPE_CHECKING:
    from .tracer import Tracer

RANDOM_FACTORIES = {
    "aten.rand", "aten.randn", "aten.rand_like", "aten.randn_like", "aten.bernoulli", "aten.normal",
}  # fmt: skip

LARGEST_TRIAL = 2**24


SAME_DTYPE = {
    "aten.linear", "aten.matmul", "aten.mm", "aten.bmm", "aten.mv", "aten.conv1d", "aten.conv2d", "aten.conv3d",
    "aten.conv_transpose1d", "aten.conv_transpose2d", "aten.conv_transpose3d",
}  # fmt: skip


def refuse(name: str, args: Any) -> None:
    """What the real kernels refuse and the fake ones let pass: operands of different dtypes, indices out of range."""
    if name in SAME_DTYPE and args[0].dtype != args[1].dtype:
        raise RuntimeError(
            f"expected both operands to have the same dtype, but got {args[0].dtype} and {args[1].dtype}"
        )
    if name == "aten.embedding" and not isinstance(args[1], FakeTensor) and args[1].numel():
        low, high = int(args[1].min()), int(args[1].max())
        if low < 0 or high >= args[0].shape[0]:
            raise IndexError(f"index {low if low < 0 else high} is out of range for a table of {args[0].shape[0]} rows")


QUESTIONS = {
    "aten._local_scalar_dense", "aten.item", "aten.is_nonzero", "aten.equal", "aten.allclose",
}  # fmt: skip


def answer(tracer: Tracer, func: Any, name: str, args: Any, kwargs: Any) -> tuple[Any] | None:
    """The value of a question about fake tensors, as a 1-tuple; None if the op is no such question."""
    if name not in QUESTIONS:
        return None
    asked = tensors_in((args, kwargs))
    _note(tracer, asked, "the value of a tensor was asked for and guessed from a sample")
    swapped, named = tree_map(lambda t: _sample(tracer, t), (args, kwargs))
    return (func(*swapped, **named),)


def _note(tracer: Tracer, asked: list[torch.Tensor], text: str) -> None:
    """Tell the plan, unless the answer depends on constants alone."""
    if any(isinstance(t, FakeTensor) and tracer.origins.of(t).leaves != frozenset() for t in asked):
        tracer.graph.notes.append(f"{tracer.module or '(root)'}: {text}")


def _sample(tracer: Tracer, item: Any) -> Any:
    return tracer.origins.sample(tracer.origins.of(item)) if isinstance(item, FakeTensor) else item


def guessed_output(tracer: Tracer, func: Any, args: Any, kwargs: Any) -> tuple[Any] | None:
    """Outputs of an op whose fake kernel refuses: the op is run on a sample, which gives their shapes."""
    tensors = tensors_in((args, kwargs))
    if sum(prod(t.shape) for t in tensors) > LARGEST_TRIAL or is_mutable(func):
        return None
    try:
        args, kwargs = tree_map(lambda t: _sample(tracer, t), (args, kwargs))
        made = func(*args, **kwargs)
    except Exception:
        return None
    lengths = op_name(func) in ("aten._pack_padded_sequence", "aten._pad_packed_sequence")
    if not lengths:
        chosen = [t for t in tensors if not t.dtype.is_floating_point] or tensors
        _note(tracer, chosen, "a selection depends on data: its size was guessed from a sample")

    def kept(t: Any) -> Any:
        if not isinstance(t, torch.Tensor) or (lengths and not t.dtype.is_floating_point):
            return t  # lengths of sequences depend on lengths alone
        return tracer.fake(t.shape, t.dtype, t.device)

    return (tree_map(kept, made),)
