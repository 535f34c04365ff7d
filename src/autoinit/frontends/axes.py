"""Axes and per-axis settings as every framework's calls give them."""

from __future__ import annotations

from typing import Any


def axis_of(dim: int, ndim: int) -> int:
    """A non-negative axis."""
    return dim % ndim if ndim else 0


def axes_of(dims: Any, ndim: int) -> tuple[int, ...]:
    """Non-negative axes; None or empty means all."""
    if dims is None or (isinstance(dims, (list, tuple)) and len(dims) == 0):
        return tuple(range(ndim))
    if isinstance(dims, int):
        return (axis_of(dims, ndim),)
    return tuple(axis_of(int(d), ndim) for d in dims)


def per_axis(value: Any, n: int) -> tuple[int, ...]:
    """An int or a short list, stretched to n entries."""
    items = [value] if isinstance(value, int) else list(value)
    return tuple(items * n) if len(items) == 1 else tuple(items)
