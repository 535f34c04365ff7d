"""Put a rewrite behind results of a model's calls, wherever they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

Wanted = Callable[[int], Callable[[Tensor], Tensor] | None]
NOT_RESULTS = {"__get__", "__set__", "dim", "size", "numel", "is_floating_point", "stride", "__len__", "detach"}


class Inserting(TorchFunctionMode):
    """wanted(k): what is done to the k-th result that is a tensor of numbers; None for nothing."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self.wanted, self.count = wanted, 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", "")
        if name in NOT_RESULTS or name.endswith("_") or not isinstance(out, Tensor) or isinstance(out, nn.Parameter):
            return out
        if not out.is_floating_point() or out.dim() < 2 or not _is_data(out, args):
            return out
        rewrite = self.wanted(self.count)
        self.count += 1
        return out if rewrite is None else rewrite(out)


def _is_data(out: Tensor, args: Any) -> bool:
    """What is made of parameters alone is a weight, which has a name of its own."""
    tensors = [a for a in torch.utils._pytree.tree_leaves(args) if isinstance(a, Tensor)]
    return not tensors or any(not isinstance(a, nn.Parameter) for a in tensors)


class Rewritten(nn.Module):
    """The model, computed with rewrites behind its results."""

    def __init__(self, model: nn.Module, wanted: Wanted) -> None:
        super().__init__()
        self.model, self._wanted = model, wanted
        self.results = 0

    def forward(self, *inputs: Tensor) -> Any:
        with Inserting(self._wanted) as inserting:
            made = self.model(*inputs)
        object.__setattr__(self, "results", inserting.count)
        return made
