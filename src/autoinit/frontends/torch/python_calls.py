"""What Python does to tensors without an op: reading and assigning ``.data``, indexing, formatting, and functions that
are better seen as one node than as the ops that they are made of. Seen by one thread alone, and nothing is patched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from ...core.graph.graph import Node
from ..axes import per_axis

if TYPE_CHECKING:
    from .tracer import Tracer

DATA = torch._C.TensorBase.__dict__["data"]
INDEXING = {torch.Tensor.__getitem__, torch.Tensor.__setitem__}
LP_POOLING = {F.lp_pool1d: 1, F.lp_pool2d: 2, F.lp_pool3d: 3}


class PythonCalls(TorchFunctionMode):
    """While walking: a parameter's data is the tracer's, f"{index}" gives the (guessed) value of a fake scalar,
    x[rows, columns] takes tuples of fake scalars, and LP pooling is one node (its signs and powers hide what it is).
    """

    def __init__(self, tracer: Tracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__self__", None) is DATA:
            with _disable_current_modes():
                if func.__name__ == "__set__":
                    return self.tracer.assign_data(args[0], args[1])
                return self.tracer.data_of(args[0])
        if func in INDEXING:
            args = (args[0], _stacked(args[1]), *args[2:])
        elif func is torch.Tensor.__format__ and isinstance(args[0], FakeTensor) and args[0].dim() == 0:
            return format(args[0].item(), args[1])
        elif func in LP_POOLING:
            return _whole_lp_pooling(self.tracer, func, LP_POOLING[func], args, kwargs or {})
        return func(*args, **(kwargs or {}))


def _stacked(index: Any) -> Any:
    """The index with every list of scalars that holds a fake one made a tensor."""
    if isinstance(index, tuple):
        return tuple(_one(i) for i in index) if any(isinstance(i, (tuple, list)) for i in index) else index
    return _one(index) if isinstance(index, list) else index


def _one(item: Any) -> Any:
    if not isinstance(item, (tuple, list)) or not any(isinstance(i, FakeTensor) and i.dim() == 0 for i in item):
        return item
    return torch.stack([i if isinstance(i, torch.Tensor) else torch.tensor(i) for i in item]).long()


def _whole_lp_pooling(tracer: Tracer, func: Any, spatial: int, args: Any, kwargs: dict[str, Any]) -> Any:
    tracer.suppressed += 1
    try:
        made = func(*args, **kwargs)
    finally:
        tracer.suppressed -= 1
    names = ("input", "norm_type", "kernel_size", "stride", "ceil_mode")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    x, window, stride = given["input"], per_axis(given["kernel_size"], spatial), given.get("stride")
    attrs = {
        "axes": tuple(range(x.dim() - spatial, x.dim())), "window": window,
        "stride": window if stride is None else per_axis(stride, spatial), "power": float(given["norm_type"]),
        "padding": ((0, 0),) * spatial,
    }  # fmt: skip
    value = tracer.value(made.shape)
    tracer.add(Node("lp_pool", (tracer.reference(tracer.incoming(x)),), (value,), attrs, tracer.module, func.__name__))
    tracer.set(made, value)
    return made
