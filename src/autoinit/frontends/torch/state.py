"""Leave the model exactly as it was: flags, attributes, buffers, caches, random state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn


@contextmanager
def untouched(model: nn.Module, training: bool | None = None) -> Iterator[None]:
    """Put the model in training or evaluation mode (or leave it in its own); restore attributes and RNG afterwards."""
    modules = list(model.modules())
    saved = [(m, _copy(m.__dict__)) for m in modules]
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    try:
        with torch.random.fork_rng(devices=devices):
            if training is not None:
                model.train(training)
            yield
    finally:
        for module, attributes in saved:
            _restore(module.__dict__, attributes)


def _copy(attributes: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Each attribute with a shallow copy of it if it is a container (a cache, a list of outputs)."""
    return {
        k: (v, v.copy() if type(v) in (dict, list, set) or isinstance(v, dict) else None) for k, v in attributes.items()
    }


def _restore(current: dict[str, Any], saved: dict[str, tuple[Any, Any]]) -> None:
    for name in [n for n in current if n not in saved]:
        del current[name]
    for name, (value, copy) in saved.items():
        current[name] = value
        if copy is None:
            continue
        if isinstance(value, list):
            value[:] = copy
        else:
            value.clear()
            value.update(copy)


@contextmanager
def buffers_kept(model: nn.Module) -> Iterator[None]:
    """Undo whatever a real forward writes into buffers (running statistics, counters)."""
    tensors = [b for b in model.buffers() if b.device.type != "meta"]
    copies = [b.detach().clone() for b in tensors]
    try:
        yield
    finally:
        with torch.no_grad():
            for tensor, copy in zip(tensors, copies, strict=True):
                if not torch.equal(tensor, copy):  # a write would invalidate what autograd has saved of it
                    tensor.copy_(copy)


@contextmanager
def named_modules_on(model: nn.Module, enter: Any, leave: Any) -> Iterator[None]:
    """Call ``enter(name, module, args)`` and ``leave(name, module, args, output)`` around every submodule's forward."""
    names = {id(m): n for n, m in model.named_modules()}

    def before(module: nn.Module, args: Any) -> None:
        name = names.get(id(module))
        if name is not None:
            enter(name, module, args)

    def after(module: nn.Module, args: Any, output: Any) -> Any:
        name = names.get(id(module))
        if name is not None:
            return leave(name, module, args, output)
        return None

    handles = [
        nn.modules.module.register_module_forward_pre_hook(before),
        nn.modules.module.register_module_forward_hook(after, always_call=True),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
