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
GIVING = {torch.tensor, torch.as_tensor, torch.asarray}
CPU = torch.device("cpu")


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
        if func in GIVING and kwargs.get("device") is None and not isinstance(args[0], (torch.Tensor, np.ndarray)):
            made = func(*args, **{**kwargs, "device": CPU})
            return made.to("meta")
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
