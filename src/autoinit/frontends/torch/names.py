"""Names of modules and parameters as they are without wrappers.

``torch.compile``, ``DistributedDataParallel``, checkpointing and the like put a model, or blocks of it, into modules of
their own, which show in names: ``_orig_mod.blocks.0._checkpoint_wrapped_module.fc.weight``. A plan speaks of the model:
``blocks.0.fc.weight``. So the plan of a wrapped model fits the bare one, and the reverse, with the same draws.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

import torch
from torch import nn

WRAPPERS = {
    "torch._dynamo.eval_frame.OptimizedModule": "_orig_mod",
    "torch.nn.parallel.data_parallel.DataParallel": "module",
    "torch.nn.parallel.distributed.DistributedDataParallel": "module",
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.ActivationWrapper": "_checkpoint_wrapped_module",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel": "_fsdp_wrapped_module",
    "lightning.fabric.wrappers._FabricModule": "_original_module",
    "lightning_fabric.wrappers._FabricModule": "_original_module",
    "deepspeed.runtime.engine.DeepSpeedEngine": "module",
}
"""Classes of wrappers, and the attribute under which they have what they wrap."""
MOST_MODULES = 10**6
TWICE = {"lightning.fabric.wrappers._FabricModule": "_forward_module",
         "lightning_fabric.wrappers._FabricModule": "_forward_module"}  # fmt: skip
"""Wrappers that have it, wrapped again or not, under a second one."""


@lru_cache(maxsize=4096)
def _wrapping(kind: Any) -> tuple[str, ...]:
    """The attributes through which names go that a wrapper adds; none for any other class of modules."""
    for cls in kind.__mro__:
        path = f"{cls.__module__}.{cls.__qualname__}"
        if path in WRAPPERS:
            return tuple(a[path] for a in (WRAPPERS, TWICE) if path in a)
    return ()


def unwrapped(model: nn.Module) -> nn.Module:
    """The model inside of wrappers."""
    while names := _wrapping(cast(Hashable, type(model))):
        model = getattr(model, names[0])
    return model


class Names:
    """The names of a model as they are without the wrappers in it."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self._walked: list[tuple[str, nn.Module]] = []
        """Every module under each of its paths, in the order of `named_modules`."""
        self._added: set[str] = set()
        """Paths whose last part is a wrapper's."""
        left = [("", model)]
        while left:  # faster than nested generators
            path, module = left.pop()
            self._walked.append((path, module))
            start = f"{path}." if path else ""
            names = _wrapping(cast(Hashable, type(module)))
            if names:
                self._added.update(start + name for name in names)
            children = module._modules
            if children:
                left += [(start + name, child) for name, child in reversed(children.items()) if child is not None]
            if len(left) > MOST_MODULES:
                raise RecursionError("modules that contain each other")

    def plain(self, name: str) -> str:
        """Without what wrappers added."""
        if not self._added:
            return name
        kept, path = [], ""
        for part in name.split("."):
            path = f"{path}.{part}" if path else part
            if path not in self._added:
                kept.append(part)
        return ".".join(kept)

    def _named_parameters(self) -> Iterable[tuple[str, nn.Parameter]]:
        """`named_parameters(remove_duplicate=False)`, which takes a generator for every level of the tree."""
        if type(self.model).named_parameters is not nn.Module.named_parameters:
            return self.model.named_parameters(remove_duplicate=False)
        return [(f"{path}.{name}" if path else name, p) for path, module in self._walked
                for name, p in module._parameters.items() if p is not None]  # fmt: skip

    def parameters(self) -> dict[str, nn.Parameter]:
        """Every parameter by its first name."""
        found: dict[int, tuple[str, nn.Parameter]] = {}
        for name, p in self._named_parameters():
            found.setdefault(id(p), (name, p))
        return {self.plain(name): p for name, p in found.values()}

    def all_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Every parameter under each of its names."""
        seen: set[tuple[str, int]] = set()
        for name, p in self._named_parameters():
            key = self.plain(name), id(p)
            if key not in seen:
                seen.add(key)
                yield key[0], p

    def modules(self) -> dict[str, nn.Module]:
        """Every module under each of its names; of a wrapper and what it wraps, that."""
        return {self.plain(name): module for name, module in self._walked}


def parameters_of(model: nn.Module) -> dict[str, nn.Parameter]:
    """Parameters by their first name, without what wrappers add to it."""
    return Names(model).parameters()


def tensors_of(model: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers under each of their names."""
    names = Names(model)
    found: dict[str, torch.Tensor] = dict(names.all_parameters())
    for name, buffer in model.named_buffers(remove_duplicate=False):
        found[names.plain(name)] = buffer
    return found
