"""What the parameters and buffers of a PyTorch model hold, on this process and beside the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from ...core.plan.preflight import TINY, Contents, Preflight
from .names import Names, tensors_of, unwrapped
from .remembering.built import was_built, was_written
from .shards import is_sharded

SLAB = 2**22
PREFIX = 32
Fingerprint = tuple[float, float, bool, tuple[float, ...]]
"""Sum and sum of squares; whether all entries are the same; the first few entries."""


def preflight(model: nn.Module) -> Preflight:
    tensors, parameters = tensors_of(model), {id(p) for p in model.parameters()}
    suspects = _never_written(model)
    seen: set[int] = set()
    contents = []
    for name, tensor in tensors.items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            found = _contents(name, tensor, id(tensor) in parameters)
            contents.append(replace(found, is_written=found.is_written and name not in suspects))
    return Preflight(type(unwrapped(model)).__name__, contents)


def _never_written(model: nn.Module) -> set[str]:
    """Tensors of modules that were built without memory, and got one that nobody has written to since."""
    names, found = Names(model), set()
    for path, module in model.named_modules(remove_duplicate=False):
        if not was_built(module):
            continue
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if tensor is None or tensor.device.type == "meta" or was_written(module, name):
                continue
            if _local(tensor)._version == 0:
                found.add(names.plain(f"{path}.{name}" if path else name))
    return found


def _local(tensor: torch.Tensor) -> torch.Tensor:
    whole: Any = tensor
    return whole._local_tensor if is_sharded(tensor) else tensor


def _contents(name: str, tensor: torch.Tensor, is_parameter: bool) -> Contents:
    if tensor.device.type == "meta":
        return Contents(name, is_parameter, tensor.numel(), has_memory=False)
    with torch.no_grad():
        local = _local(tensor.detach())
        size = local.numel()
        numbers = local.is_floating_point() or local.is_complex()
        if not numbers or local.layout is not torch.strided or size == 0:
            counts, fingerprint = (0, 0, 0, 0.0), None
        else:
            counts, fingerprint = _looked_at(local)
        nan, infinite, tiny, largest = counts
        found = Contents(name, is_parameter, size, nan, infinite, tiny, largest)
        if is_sharded(tensor) and dist.is_available() and dist.is_initialized():
            found = replace(found, devices=_compared(tensor, fingerprint))
    return found


def _looked_at(local: torch.Tensor) -> tuple[tuple[int, int, int, float], Fingerprint]:
    """Counts and a fingerprint, a slab at a time."""
    flat = torch.view_as_real(local.contiguous()) if local.is_complex() else local
    flat = flat.reshape(-1)
    nan = infinite = tiny = 0
    largest, total, squares, same = 0.0, 0.0, 0.0, True
    first = float(flat[0])
    for start in range(0, flat.numel(), SLAB):
        x = flat[start : start + SLAB].double()
        finite = torch.isfinite(x)
        bad = int((~finite).sum())
        nan += int(torch.isnan(x).sum()) if bad else 0
        infinite += bad
        x = torch.where(finite, x, 0.0) if bad else x
        size = x.abs()
        largest = max(largest, float(size.max()))
        tiny += int(((size > 0) & (size < TINY)).sum())
        total, squares, same = total + float(x.sum()), squares + float((x * x).sum()), same and bool((x == first).all())
    return (nan, infinite - nan, tiny, largest), (total, squares, same, tuple(flat[:PREFIX].double().tolist()))


def _compared(tensor: Any, fingerprint: Fingerprint | None) -> str:
    """Shards beside shards, copies beside copies; every process of the mesh must come here."""
    mesh, said = tensor.device_mesh, ""
    for axis, placement in enumerate(tensor.placements):
        group = mesh.get_group(axis)
        everyone: list[Any] = [None] * dist.get_world_size(group)
        dist.all_gather_object(everyone, (tuple(_local(tensor).shape), fingerprint), group=group)
        if placement.is_replicate():
            if any(other != everyone[0] for other in everyone):
                return "differs"
        elif len(everyone) > 1:
            begins = [f[3] for _, f in everyone if f is not None and not f[2] and len(f[3]) > 1]
            if any(_begin_alike(a, b) for k, a in enumerate(begins) for b in begins[:k]):
                said = "same on devices"
    return said


def _begin_alike(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    """Shards of unequal size that were drawn from the same state of a generator begin with the same numbers."""
    n = min(len(a), len(b))
    return a[:n] == b[:n] and len(set(a[:n])) > 1
