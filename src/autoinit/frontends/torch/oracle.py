"""Questions whose answer needs data: values, data-dependent shapes, fresh random numbers.

Guesses have limits, and the graph notes where one was made.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_flatten, tree_map

from .schema import op_name

if TYPE_CHECKING:
    from .tracer import Tracer

RANDOM_FACTORIES = {
    "aten.rand", "aten.randn", "aten.rand_like", "aten.randn_like", "aten.bernoulli", "aten.normal",
}  # fmt: skip

LARGEST_TRIAL = 2**22


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


def answer(tracer: Tracer, func: Any, name: str, args: Any, kwargs: Any) -> tuple[Any] | None:
    """The value of a question about a fake tensor, as a 1-tuple; None if the op is no such question."""
    if name in ("aten._local_scalar_dense", "aten.item"):
        tensor = args[0]
        tracer.graph.notes.append(f"{tracer.module or '(root)'}: the value of a tensor was asked for and guessed")
        if tensor.dtype is torch.bool:
            return (False,)
        return (0.5,) if tensor.dtype.is_floating_point else (1,)
    if name == "aten.is_nonzero":
        return (False,)
    if name in ("aten.equal", "aten.allclose"):
        return (False,)
    return None


def guessed_output(tracer: Tracer, func: Any, args: Any, kwargs: Any, error: Exception) -> tuple[Any] | None:
    """Outputs of an op whose fake kernel refuses: a guessed size, or one real run on random tensors."""
    name = op_name(func)
    place = tracer.module or "(root)"
    if name in ("aten.nonzero", "aten.nonzero_numpy", "aten.argwhere"):
        x = args[0]
        rows = max(x.numel() // 2, 1)
        tracer.graph.notes.append(f"{place}: the number of non-zero entries depends on data; took half of them")
        return (tracer.fake((rows, x.dim()), torch.int64, x.device),)
    if name == "aten.masked_select":
        x = args[0]
        tracer.graph.notes.append(f"{place}: a boolean selection depends on data; took half of the entries")
        return (tracer.fake((max(x.numel() // 2, 1),), x.dtype, x.device),)
    if name == "aten.index":
        return _boolean_index(tracer, args, place)
    return _trial(tracer, func, args, kwargs, place)


def _boolean_index(tracer: Tracer, args: Any, place: str) -> tuple[Any] | None:
    x, indices = args[0], args[1]
    masks = [m for m in indices if m is not None and m.dtype is torch.bool]
    if not masks:
        return None
    mask = masks[0]
    rows = max(mask.numel() // 2, 1)
    tracer.graph.notes.append(f"{place}: a boolean selection depends on data; took half of the entries")
    return (tracer.fake((rows, *x.shape[mask.dim() :]), x.dtype, x.device),)


def _trial(tracer: Tracer, func: Any, args: Any, kwargs: Any, place: str) -> tuple[Any] | None:
    tensors = [t for t in tree_flatten((args, kwargs))[0] if isinstance(t, torch.Tensor)]
    if sum(prod(t.shape) for t in tensors) > LARGEST_TRIAL:
        return None
    generator = torch.Generator().manual_seed(0)

    def real(t: Any) -> Any:
        if not isinstance(t, FakeTensor):
            return t
        if t.dtype.is_floating_point or t.dtype.is_complex:
            return torch.randn(t.shape, generator=generator, dtype=torch.float32).to(t.dtype)
        return torch.zeros(t.shape, dtype=t.dtype)

    try:
        made = func(*tree_map(real, args), **tree_map(real, kwargs))
    except Exception:
        return None
    known = op_name(func) in ("aten._pack_padded_sequence", "aten._pad_packed_sequence")

    def kept(t: Any) -> Any:
        if not isinstance(t, torch.Tensor) or (known and not t.dtype.is_floating_point):
            return t  # lengths of sequences depend on lengths alone
        return tracer.fake(t.shape, t.dtype, t.device)

    return (tree_map(kept, made),)
