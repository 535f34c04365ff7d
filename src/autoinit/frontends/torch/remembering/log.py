"""A log of the ops that run while a model is built without memory, and their repetition in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from types import FunctionType
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_map

from ..leaves import Form, taken_apart, tensors_in
from ..private_random import PrivateRandom
from ..schema import is_mutable, op_name, written_positions

ASKING = {"aten._local_scalar_dense", "aten.item", "aten.equal", "aten.is_nonzero"}
"""Ops that ask for a value; they are answered by working the tensor out."""


@dataclass(frozen=True)
class Entry:
    """One op."""

    func: Any
    flat: list[Any]
    form: Form
    outputs: list[torch.Tensor]

    @property
    def tensors(self) -> list[torch.Tensor]:
        return [a for a in self.flat if isinstance(a, torch.Tensor)]


def memory_of(tensor: torch.Tensor) -> int:
    """What tensors that lie in the same memory have in common."""
    return int(tensor.untyped_storage()._cdata)


class Log(TorchDispatchMode):
    """What was done to tensors on the meta device, op by op."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.entries: list[Entry] = []
        self.writers: dict[int, list[int]] = {}
        """By memory, the entries that made it or wrote to it."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        inputs = tensors_in((args, kwargs))
        if op_name(func) in ASKING and any(t.device.type == "meta" for t in inputs):
            swapped = tree_map(lambda a: self.worked_out(a) if _is_meta(a) else a, (args, kwargs))
            return func(*swapped[0], **swapped[1])
        out = func(*args, **kwargs)
        outputs = tensors_in(out)
        if any(t.device.type == "meta" for t in (*inputs, *outputs)):
            self._record(func, args, kwargs, inputs, outputs)
        return out

    def _record(
        self, func: Any, args: Any, kwargs: Any, inputs: list[torch.Tensor], outputs: list[torch.Tensor]
    ) -> None:
        flat, form = taken_apart(func, args, kwargs)
        given = {memory_of(t) for t in inputs}
        written = {memory_of(t) for t in outputs} - given
        if is_mutable(func):
            written |= {memory_of(flat[k]) for k in written_positions(func, flat, form)}
        views = not written and bool(outputs)
        if views:
            return  # a view needs no entry: it is found by its place in memory
        self.entries.append(Entry(func, flat, form, outputs))
        for memory in written:
            self.writers.setdefault(memory, []).append(len(self.entries) - 1)

    def wrote(self, tensor: torch.Tensor, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """A function of `torch.nn.init` that would have written to all of a tensor."""
        flat, form = taken_apart(function, (tensor,), options)
        self.entries.append(Entry(function, flat, form, [tensor]))
        self.writers.setdefault(memory_of(tensor), []).append(len(self.entries) - 1)

    def knows(self, tensor: torch.Tensor) -> bool:
        """Whether all that its values follow from was seen."""
        read = (t for index in self.history(tensor) for t in self.entries[index].tensors)
        return all(memory_of(t) in self.writers for t in (tensor, *read) if t.device.type == "meta")

    def history(self, tensor: torch.Tensor) -> list[int]:
        """The entries that its values follow from, in order."""
        needed: set[int] = set()
        todo = [(memory_of(tensor), len(self.entries))]
        while todo:
            memory, before = todo.pop()
            for index in self.writers.get(memory, ()):
                if index < before and index not in needed:
                    needed.add(index)
                    todo += [(memory_of(t), index) for t in self.entries[index].tensors]
        return sorted(needed)

    def worked_out(self, tensor: torch.Tensor, seed: int = 0) -> torch.Tensor:
        """The values that the tensor would have, on the CPU; random ones from a generator of this seed alone."""
        with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.no_grad():
            return Replay(seed).run(self, tensor)


class Replay:
    """The repetition of some entries of a log in memory."""

    def __init__(self, seed: int) -> None:
        self.random = PrivateRandom(seed)
        self.real: dict[int, torch.Tensor] = {}
        """By memory on the meta device, a tensor that has the real memory."""

    def run(self, log: Log, tensor: torch.Tensor) -> torch.Tensor:
        for index in log.history(tensor):
            entry = log.entries[index]
            flat = [self._real(a) if isinstance(a, torch.Tensor) else _on_cpu(a) for a in entry.flat]
            args, kwargs = entry.form.holding(flat)
            if isinstance(entry.func, FunctionType):
                self._initialize(entry.func, args[0], kwargs)
                continue
            made = tensors_in(self.random.call(entry.func, args, kwargs))
            for meta, out in zip(entry.outputs, made, strict=True):
                if memory_of(meta) not in self.real:
                    self.real[memory_of(meta)] = _laid_out_like(out, meta)
        return self._real(tensor).clone()

    def _initialize(self, function: Callable[..., Any], tensor: torch.Tensor, options: dict[str, Any]) -> None:
        if "generator" in signature(function).parameters:
            options = {**options, "generator": self.random.on(tensor.device)}
        function(tensor, **options)

    def _real(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.device.type != "meta":
            found = self.real.get(memory_of(tensor))
            if found is None:
                found = self.real[memory_of(tensor)] = tensor.detach().clone(memory_format=torch.preserve_format)
            return found
        memory = self.real.get(memory_of(tensor))
        if memory is None:
            raise KeyError("nothing is known of this tensor")
        made = torch.empty(0, dtype=tensor.dtype, device="cpu")
        return made.set_(memory.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())


def _laid_out_like(out: torch.Tensor, meta: torch.Tensor) -> torch.Tensor:
    if out.stride() == meta.stride() and out.storage_offset() == meta.storage_offset():
        return out
    made = torch.empty_strided(tuple(meta.shape), meta.stride(), dtype=out.dtype, device="cpu")
    return made.copy_(out)


def _on_cpu(argument: Any) -> Any:
    if isinstance(argument, torch.device) and argument.type == "meta":
        return torch.device("cpu")
    return argument


def _is_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "meta"
