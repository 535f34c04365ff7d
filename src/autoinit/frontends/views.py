"""Views of parameters: what a transpose, reshape or cut of a weight is, without touching its values.

The view is a dry NumPy array with the same shape and strides, on which the real operation is carried out. There is no
memory behind it: operations must only move and cut, and never read.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.graph.graph import Constant, ParameterView, Shape


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
    """The view that `operation` (which never copies) makes of a view; None if it is none, or repeats entries."""
    if prod(view.shape) == 0 or any(s < 0 for s in view.stride):
        return None
    dry = np.lib.stride_tricks.as_strided(np.empty(1, dtype=np.int8), view.shape, view.stride, writeable=False)
    made = operation(dry)
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


def permuted_view(view: ParameterView, perm: tuple[int, ...]) -> ParameterView:
    return ParameterView(
        view.name, tuple(view.shape[a] for a in perm), tuple(view.stride[a] for a in perm), view.offset, view.whole
    )


def reshaped_view(view: ParameterView, shape: Shape) -> ParameterView | None:
    """None if the entries do not lie as the new shape needs them.

    Both shapes are cut into the smallest runs of axes with equally many entries; within a run the old axes must lie
    in each other like those of a contiguous array.
    """
    if prod(view.shape) != prod(shape) or prod(shape) == 0 or any(s < 0 for s in view.stride):
        return None
    old = [(n, s) for n, s in zip(view.shape, view.stride, strict=True) if n != 1]
    new = [n for n in shape if n != 1]
    strides: list[int] = []
    i = j = 0
    while i < len(old):
        first, start, have, want = i, j, old[i][0], new[j]
        while have != want:
            if have < want:
                i += 1
                have *= old[i][0]
            else:
                j += 1
                want *= new[j]
        i, j = i + 1, j + 1
        if any(old[k][1] != old[k + 1][0] * old[k + 1][1] for k in range(first, i - 1)):
            return None
        step = old[i - 1][1]
        if step == 0:
            return None
        strides += [step * prod(new[k + 1 : j]) for k in range(start, j)]
    found, own = iter(strides), contiguous_strides(shape)
    stride = tuple(c if n == 1 else next(found) for n, c in zip(shape, own, strict=True))
    return ParameterView(view.name, tuple(shape), stride, view.offset, view.whole)


def constant_view(constant: Constant, shape: Shape, operation: Callable[[NDArray[Any]], NDArray[Any]]) -> Constant:
    """The constant that `operation` makes of a constant, computed when somebody asks."""

    def array() -> NDArray[Any] | None:
        given = constant.array()
        return None if given is None else operation(np.asarray(given))

    return Constant(shape, array)


def relaid(view: ParameterView, shape: Shape, old: Shape, new: Shape) -> ParameterView | None:
    """The same entries of a parameter of this shape, with its axes `new` apart in memory instead of `old`.

    A step of the view is a step along the parameter's axes, and adds up to another number there. None where that is
    not so: the view runs from one axis into another that is no longer its neighbour, or the axes overlap.
    """
    if tuple(view.shape) == tuple(shape) and _alike(view.stride, old, shape) and view.offset == 0:
        return ParameterView(view.name, shape, new, 0, view.whole)
    axes = [a for a in np.argsort([-s for s in old], kind="stable").tolist() if shape[a] > 1 and old[a] > 0]
    if any(old[a] <= sum((shape[b] - 1) * old[b] for b in axes[k + 1 :]) for k, a in enumerate(axes)):
        return None
    repeated = [a for a in range(len(shape)) if shape[a] > 1 and old[a] == 0]
    at = _steps(view.offset, axes, shape, old)
    if at is None:
        return None
    reached, strides = list(at), []
    for n, step in zip(view.shape, view.stride, strict=True):
        if n <= 1 or step == 0:
            axis = next((a for a in repeated if shape[a] == n), None) if n > 1 else None
            if axis is not None:
                repeated.remove(axis)
            strides.append(new[axis] if axis is not None else 1 if n <= 1 else 0)
            continue
        steps = _steps(step, axes, shape, old)
        if steps is None or not _walk(n, steps, at, reached, axes, shape, old, new):
            return None
        strides.append(sum(steps[a] * new[a] for a in axes))
    offset = sum(at[a] * new[a] for a in axes)
    return ParameterView(view.name, view.shape, tuple(strides), offset, view.whole)


def _alike(one: Shape, two: Shape, shape: Shape) -> bool:
    return all(a == b for a, b, n in zip(one, two, shape, strict=True) if n > 1)


def _steps(distance: int, axes: list[int], shape: Shape, strides: Shape) -> list[int] | None:
    """A distance in memory as steps along each axis (axes from the widest stride to the finest)."""
    steps = [0] * len(shape)
    for a in axes:
        steps[a], distance = divmod(distance, strides[a])
        if steps[a] >= shape[a]:
            return None
    return None if distance else steps


def _walk(
    n: int, steps: list[int], at: list[int], reached: list[int], axes: list[int], shape: Shape, old: Shape, new: Shape
) -> bool:
    """Whether n such steps stay on the axes where they began, or run on into the neighbour in both layouts."""
    along = [a for a in axes if steps[a]]
    if all(reached[a] + (n - 1) * steps[a] < shape[a] for a in along):
        for a in along:
            reached[a] += (n - 1) * steps[a]
        return True
    if len(along) != 1 or steps[along[0]] != 1:
        return False
    a = along[0]
    while reached[a] + n - 1 >= shape[a]:
        wider = next((b for b in axes if old[b] == old[a] * shape[a] and new[b] == new[a] * shape[a]), None)
        if at[a] or reached[a] or n % shape[a] or wider is None:
            return False
        reached[a], n, a = shape[a] - 1, n // shape[a], wider
    reached[a] += n - 1
    return True
