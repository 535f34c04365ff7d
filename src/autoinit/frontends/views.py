"""Views of parameters: what a transpose, reshape or cut of a weight is, without touching its values.

The view is a dry NumPy array with the same shape and strides (one byte per entry, memory never read), on which the
real operation is carried out; where that needs no copy, the outcome is a view again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.graph import Constant, ParameterView, Shape


def contiguous_strides(shape: Shape) -> Shape:
    """Strides, in entries, of a freshly made array."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def whole_view(name: str, shape: Shape) -> ParameterView:
    return ParameterView(name, shape, contiguous_strides(shape), 0, True)


def viewed(view: ParameterView, operation: Callable[[NDArray[Any]], NDArray[Any]]) -> ParameterView | None:
    """The view that `operation` makes of a view; None if it needs a copy or repeats entries."""
    if prod(view.shape) == 0 or any(s < 0 for s in view.stride):
        return None
    reach = 1 + sum((n - 1) * s for n, s in zip(view.shape, view.stride, strict=True))
    dry = _untouched(reach)
    given = np.lib.stride_tricks.as_strided(dry, view.shape, view.stride)
    made = operation(given)
    if not np.may_share_memory(made, dry) or any(s < 0 for s in made.strides):
        return None
    if any(s == 0 and n > 1 for s, n in zip(made.strides, made.shape, strict=True)):
        return None
    strides = tuple(
        c if n == 1 else s for s, n, c in zip(made.strides, made.shape, contiguous_strides(made.shape), strict=True)
    )
    shift = made.__array_interface__["data"][0] - dry.__array_interface__["data"][0]
    whole = view.whole and prod(made.shape) == prod(view.shape)
    return ParameterView(view.name, tuple(made.shape), strides, view.offset + shift, whole)


@cache
def _capacity() -> dict[str, NDArray[Any]]:
    return {}


def _untouched(size: int) -> NDArray[Any]:
    """At least `size` bytes of address space that nobody reads."""
    held = _capacity()
    if "dry" not in held or held["dry"].size < size:
        held["dry"] = np.empty(max(size, 1), dtype=np.int8)
    return held["dry"]


def permuted_view(view: ParameterView, perm: tuple[int, ...]) -> ParameterView:
    return ParameterView(
        view.name, tuple(view.shape[a] for a in perm), tuple(view.stride[a] for a in perm), view.offset, view.whole
    )


def reshaped_view(view: ParameterView, shape: Shape) -> ParameterView | None:
    """None if the entries do not lie as the new shape needs them."""

    def reshape(a: NDArray[Any]) -> NDArray[Any]:
        made = a.view()
        try:
            made.shape = shape  # raises where a copy would be needed
        except (AttributeError, ValueError):
            return np.empty(0, dtype=np.int8)
        return made

    return viewed(view, reshape)


def constant_view(constant: Constant, shape: Shape, operation: Callable[[NDArray[Any]], NDArray[Any]]) -> Constant:
    """The constant that `operation` makes of a constant, computed when somebody asks."""

    def array() -> NDArray[Any] | None:
        given = constant.array()
        return None if given is None else operation(np.asarray(given))

    return Constant(shape, array)
