"""Writing what `core.drawing` makes into a tensor, wherever and however it lies: on a device, rounded, transposed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from ...core.drawing import Draw, slabs
from .memory import distinct

NO_NUMBERS = ("float8_e8m0fnu", "float4_e2m1fn_x2")
"""Powers of two alone, and pairs packed into one entry: scales and storage, no weights."""


def can_be_drawn(dtype: torch.dtype) -> bool:
    """Whether random numbers of both signs can be rounded to this type."""
    return (dtype.is_floating_point or dtype.is_complex) and str(dtype).removeprefix("torch.") not in NO_NUMBERS


def fill(tensor: torch.Tensor, draw: Draw, low: Sequence[int] | None = None) -> None:
    """Write the rectangle of the parameter that the tensor holds, beginning at `low`.

    In its own memory where NumPy can write there; else a slab at a time, with no memory beyond that.
    """
    tensor = distinct(tensor.detach())
    low = [0] * tensor.dim() if low is None else list(low)
    if tensor.is_complex():
        tensor, low = torch.view_as_real(tensor), [*low, 0]
    if tensor.numel() == 0:
        return
    if _is_plain(tensor):
        draw.into(tensor.numpy(), low)
        torch.autograd.graph.increment_version(tensor)
        return
    wide = np.float64 if tensor.dtype == torch.float64 else np.float32
    for start, shape in slabs(tensor.shape):
        piece = tensor[tuple(slice(a, a + n) for a, n in zip(start, shape, strict=True))]
        buffer = np.empty(shape, dtype=wide)
        if not draw.covers:
            buffer[...] = as_numbers(piece)
        draw.into(buffer, [a + b for a, b in zip(low, start, strict=True)])
        piece.copy_(torch.from_numpy(buffer))


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        tensor.device.type == "cpu"
        and tensor.dtype in (torch.float32, torch.float64)
        and tensor.is_contiguous()
        and not tensor.is_inference()
    )


def drawn_pieces(draw: Draw, dtype: torch.dtype) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """The whole parameter as it is drawn and rounded, a slab at a time."""
    wide = np.float64 if dtype in (torch.float64, torch.complex128) else np.float32
    for low, shape in slabs(draw.shape):
        buffer = np.empty(shape, dtype=wide)
        draw.into(buffer, low)
        yield low, as_numbers(torch.from_numpy(buffer).to(_real(dtype)))


def held_pieces(tensor: torch.Tensor) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """The present values of a whole parameter, in the same slabs."""
    real = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    for low, shape in slabs(real.shape):
        yield low, as_numbers(real[tuple(slice(a, a + n) for a, n in zip(low, shape, strict=True))])


def as_numbers(tensor: torch.Tensor) -> NDArray[np.float64]:
    made: NDArray[np.float64] = tensor.detach().to("cpu", torch.float64).numpy()
    return made


def _real(dtype: torch.dtype) -> torch.dtype:
    return {torch.complex64: torch.float32, torch.complex128: torch.float64, torch.complex32: torch.float16}.get(
        dtype, dtype
    )
