"""Python's own ways to values, while a model is built without memory: reading them, and giving them."""

from __future__ import annotations

import sys
from inspect import signature
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from .log import Log

IS_META = torch._C.TensorBase.__dict__["is_meta"].__get__
SKIPPED = {"_no_grad_trunc_normal_": "trunc_normal_", "dirac_": "dirac_", "orthogonal_": "orthogonal_"}
"""Functions of `torch.nn.init` that do nothing on the meta device, and what they are called."""
READING = {torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__}
GIVING = {torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor}
CPU, META = torch.device("cpu"), torch.device("meta")


class Asking(TorchFunctionMode):
    """``t.tolist()`` works the tensor out; ``torch.tensor([1, 2])`` is on the meta device, and its values are known."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self.log = log

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func == IS_META:
            return self._is_meta(args[0], sys._getframe(1))
        if func in READING and args[0].device.type == "meta":
            return func(self.log.worked_out(args[0]), *args[1:], **kwargs)
        if func in GIVING and _given(func, args, kwargs):
            return func(*args, **{**kwargs, "device": CPU}).to(META)
        return func(*args, **kwargs)

    def _is_meta(self, tensor: torch.Tensor, frame: FrameType) -> bool:
        """Who asks? A function of `torch.nn.init` that is about to return without a word is noted down."""
        found = bool(IS_META(tensor))
        name = SKIPPED.get(frame.f_code.co_name)
        if found and name is not None and frame.f_globals.get("__name__") == "torch.nn.init":
            function = getattr(torch.nn.init, name)
            taken = [p for p in signature(function).parameters if p not in ("tensor", "generator")]
            self.log.wrote(tensor, function, {p: frame.f_locals[p] for p in taken if p in frame.f_locals})
        return found


def _given(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether numbers of Python's become a tensor on the meta device."""
    own, data = (args[0].device, args[1:]) if func is torch.Tensor.new_tensor else (META, args)
    on_meta = torch.device(kwargs.get("device") or own).type == "meta"
    return on_meta and not any(isinstance(a, (torch.Tensor, np.ndarray)) for a in (*data, *kwargs.values()))
