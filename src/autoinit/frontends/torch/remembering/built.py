"""The stories of a model's parameters and buffers, by their names.

They belong to modules, not to tensors: ``to_empty``, sharding and wrapping replace tensors, and keep modules.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from ..names import Names
from .asking import Asking
from .log import Log, memory_of
from .story import Story

_BUILT: WeakKeyDictionary[nn.Module, dict[str, Story]] = WeakKeyDictionary()
"""What constructors wrote to the parameters and buffers of modules that were built without memory."""


_WRITTEN: WeakKeyDictionary[nn.Module, set[str]] = WeakKeyDictionary()
"""Which of these a plan has filled since; moving a model to another device makes new tensors, and forgets nothing."""
_OPEN = threading.local()
"""`modules`: one collection per context of this thread."""
_HOOKS: list[Any] = []
_HOOKS_LOCK = threading.Lock()


def _registered(module: nn.Module, *_: Any) -> None:
    for modules in getattr(_OPEN, "modules", ()):
        modules[id(module)] = module


def _listen() -> None:
    """PyTorch's global hooks are iterated over by every thread that builds a module: they are added once, and stay."""
    with _HOOKS_LOCK:
        if not _HOOKS:
            _HOOKS.extend(
                register(_registered)
                for register in (
                    register_module_parameter_registration_hook,
                    register_module_buffer_registration_hook,
                    register_module_module_registration_hook,
                )
            )


@contextmanager
def meta() -> Iterator[None]:
    """See `autoinit.meta`."""
    _listen()
    log, modules = Log(), dict[int, nn.Module]()
    before = getattr(_OPEN, "modules", ())
    with torch.device("meta"), log, Asking(log):
        _OPEN.modules = (*before, modules)
        try:
            yield
        finally:
            _OPEN.modules = before
    for module in modules.values():
        _BUILT[module] = _stories(module, log)


def _stories(module: nn.Module, log: Log) -> dict[str, Story]:
    held = {**module._parameters, **module._buffers}
    return {
        name: Story(log, tensor)
        for name, tensor in held.items()
        if tensor is not None and tensor.device.type == "meta" and log.knows(tensor)
    }


def stories_of(model: nn.Module) -> dict[str, Story]:
    """The stories of parameters and buffers by their full names, as far as they are known."""
    names, found = Names(model), dict[str, Story]()
    for path, module in model.named_modules(remove_duplicate=False):
        stories = _BUILT.get(module)
        if stories is None:
            stories = _by_reset(module)
        for name, story in stories.items():  # what an outer module's reset writes comes after the inner one's
            found.setdefault(names.plain(f"{path}.{name}" if path else name), story)
    return found


def was_built(module: nn.Module) -> bool:
    """Whether a module was built under `meta`."""
    return module in _BUILT


def mark_written(model: nn.Module, tensors: Iterable[torch.Tensor]) -> None:
    """A plan has filled these parameters and buffers."""
    filled = {id(t) for t in tensors}
    for module in model.modules():
        if module in _BUILT:
            held = (*module._parameters.items(), *module._buffers.items())
            _WRITTEN.setdefault(module, set()).update(name for name, t in held if id(t) in filled)


def was_written(module: nn.Module, name: str) -> bool:
    """Whether a plan has filled this parameter or buffer."""
    return name in _WRITTEN.get(module, ())


RESETS = ("reset_parameters", "_reset_parameters")


def _by_reset(module: nn.Module) -> dict[str, Story]:
    """What a module's own ``reset_parameters`` writes, tried on a copy of the module that has no memory."""
    own = [*module._parameters.values(), *module._buffers.values()]
    method = next((name for name in RESETS if callable(getattr(type(module), name, None))), None)
    if method is None or not any(t is not None for t in own):
        return {}
    log = Log()
    try:
        with torch.device("meta"), log, Asking(log):
            copy = _without_memory(module)
            getattr(copy, method)()
        return {
            f"{path}.{name}" if path else name: story
            for path, inner in copy.named_modules(remove_duplicate=False)
            for name, story in _stories(inner, log).items()
            if len(log.writers[memory_of(story.tensor)]) > 1  # more than `torch.empty`
        }
    except Exception:  # one that needs what a copy does not have: nothing is known then
        return {}


def _without_memory(module: nn.Module) -> nn.Module:
    """A copy of a module on the meta device, with empty parameters and buffers of its own, and of its children."""
    copy: nn.Module = object.__new__(type(module))
    copy.__dict__.update(module.__dict__)
    copy.__dict__["_parameters"] = {
        name: None if p is None else nn.Parameter(torch.empty(p.shape, dtype=p.dtype), p.requires_grad)
        for name, p in module._parameters.items()
    }
    copy.__dict__["_buffers"] = {
        name: None if b is None else torch.empty(b.shape, dtype=b.dtype) for name, b in module._buffers.items()
    }
    copy.__dict__["_modules"] = {
        name: None if child is None else _without_memory(child) for name, child in module._modules.items()
    }
    return copy
