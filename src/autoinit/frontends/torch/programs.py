"""What is done to some tensors, as a value: the same routing in every layer is one program, and is run once."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

import torch

from .origins import Origin

LARGEST = 2**16
"""Constants of more entries are not compared."""
PLAIN = (int, float, complex, bool, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format)


class _Unlike(Exception):
    """Something in it cannot be compared."""


def program_of(origin: Origin, leaves: Sequence[Origin]) -> Hashable | None:
    """Equal for two tensors exactly if the same ops make them of their leaves; None where that cannot be told."""
    numbers = {leaf: k for k, leaf in enumerate(leaves)}
    lines: list[Hashable] = [(leaf.shape, str(leaf.dtype)) for leaf in leaves]

    def number(part: Origin) -> int:
        if part not in numbers:
            line = _call(part, number) if part.call is not None else _held(part)
            numbers[part] = len(lines)
            lines.append((part.shape, str(part.dtype), part.position, line))
        return numbers[part]

    try:
        number(origin)
    except (_Unlike, RecursionError):
        return None
    return tuple(lines)


def _call(part: Origin, number: Any) -> Hashable:
    assert part.call is not None
    func, operands, form = part.call
    return str(func), str(form), tuple(_operand(item, number) for item in operands)


def _operand(item: Any, number: Any) -> Hashable:
    if isinstance(item, Origin):
        return "made", number(item)
    if isinstance(item, torch.Tensor):
        return _contents(item)
    if isinstance(item, PLAIN):
        return type(item).__name__, repr(item)
    raise _Unlike


def _held(part: Origin) -> Hashable:
    """A value that is there: a parameter, a buffer."""
    value = None if part.read is None or part.sources else part.read(_nothing)
    if not isinstance(value, torch.Tensor):
        raise _Unlike
    return _contents(value)


def _nothing(_: Origin) -> torch.Tensor:
    raise _Unlike


def _contents(tensor: torch.Tensor) -> Hashable:
    if tensor.numel() > LARGEST or tensor.layout is not torch.strided or tensor.device.type == "meta":
        raise _Unlike
    data = tensor.detach().cpu().contiguous().resolve_conj().resolve_neg().view(-1).view(torch.uint8)
    return str(tensor.dtype), tuple(tensor.shape), hashlib.sha256(bytes(data.numpy())).hexdigest()
