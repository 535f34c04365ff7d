"""Rows picked by indices, and rows added or written at indices."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....core.graph.graph import ParameterView
from ...chance import equal_chance
from ..tape import Of
from .table import lax

if TYPE_CHECKING:
    from ..call import Call


@lax("gather")
def gather(call: Call) -> None:
    """x[index] along one axis, several neighbours at once, or entry by entry along axes that both share."""
    x, indices = call.args
    numbers, sizes = call["dimension_numbers"], tuple(call["slice_sizes"])
    axes, gone = tuple(numbers.start_index_map), tuple(numbers.collapsed_slice_dims)
    shared = tuple(getattr(numbers, "operand_batching_dims", ()))
    whole = all(sizes[a] == n for a, n in enumerate(x.shape) if a not in axes and a not in shared)
    known = call.known(indices)
    if shared or not whole:
        _entries(call, shared, axes, sizes)
    elif axes == gone and len(axes) == 1:
        _rows(call, axes[0], None if known is None else known[..., 0], tuple(numbers.offset_dims))
    elif axes == gone and list(axes) == list(range(axes[0], axes[0] + len(axes))):
        _merged(call, axes, known, tuple(numbers.offset_dims))
    elif not gone and known is not None and indices.shape[:-1] == () and len(indices.shape) == 1:
        _part(call, axes, known, sizes)
    else:
        _entries(call, (), axes, sizes)


def _rows(call: Call, axis: int, index: NDArray[Any] | None, offset: tuple[int, ...]) -> None:
    """Rows along one axis; where the axes of the indices stand in the output does not matter to their law."""
    x, out = call.args[0], call.out
    chance = None if index is None else equal_chance(index)
    table = call.reference(x)
    batch = tuple(a for a in range(len(out.shape)) if a not in offset)
    sizes = tuple(out.shape[a] for a in batch)
    picked = tuple(n for a, n in enumerate(x.shape) if a != axis)
    in_place = (*x.shape[:axis], *sizes, *x.shape[axis + 1 :])
    order = (*offset[:axis], *batch, *offset[axis:])
    if isinstance(table, ParameterView) and len(x.shape) >= 1 and axis == 0 and not call.step.inputs[1].of & Of.SIGNAL:
        w = call.reshaped(table, (x.shape[0], prod(picked)))
        made: Any = call.layer("embedding", [w, call.tracer.given(call.args[1], sizes)], (*sizes, prod(picked)),
                               vocabulary=x.shape[0], chance=chance)  # fmt: skip
        made = call.reshaped(made, in_place)
    else:
        (made,) = call.emit("gather", [table, None], [in_place], axis=axis, chance=chance)
    inverse = tuple(order.index(a) for a in range(len(order)))
    call.tracer.set(out, call.permuted(made, inverse))


def _merged(call: Call, axes: tuple[int, ...], known: NDArray[Any] | None, offset: tuple[int, ...]) -> None:
    """Neighbouring axes as one."""
    x, out, first = call.args[0], call.out, axes[0]
    chance = None
    if known is not None:
        places = np.zeros(known.shape[:-1], np.int64)
        for k, a in enumerate(axes):
            places = places * x.shape[a] + known[..., k]
        chance = equal_chance(places)
    shape = (*x.shape[:first], prod(x.shape[a] for a in axes), *x.shape[first + len(axes) :])
    flat = call.reshaped(x, shape)
    batch = tuple(a for a in range(len(out.shape)) if a not in offset)
    in_place = (*x.shape[:first], *(out.shape[a] for a in batch), *x.shape[first + len(axes) :])
    (made,) = call.emit("gather", [flat, None], [in_place], axis=first, chance=chance)
    order = (*offset[:first], *batch, *offset[first:])
    call.tracer.set(out, call.permuted(made, tuple(order.index(a) for a in range(len(order)))))


def _part(call: Call, axes: tuple[int, ...], known: NDArray[Any], sizes: tuple[int, ...]) -> None:
    """One window at a known place: a cut."""
    current: Any = call.args[0]
    shape = list(call.args[0].shape)
    for axis, start in zip(axes, known.reshape(-1), strict=True):
        n, size = shape[axis], sizes[axis]
        first = min(max(int(start), 0), n - size)
        shape[axis] = size
        (current,) = call.emit("slice", [current], [tuple(shape)], axis=axis, start=first, stop=first + size, step=1)
    call.tracer.set(call.out, call.reshaped(current, call.out.shape))


def _entries(call: Call, shared: tuple[int, ...], axes: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    """Entries picked for each place by an index of its own: their law does not change."""
    x, out = call.args[0], call.out
    if len(out.shape) != len(x.shape):
        call.unknown()
        return
    current: Any = x
    shape = list(x.shape)
    for a, n in enumerate(out.shape):
        if shape[a] != n:
            shape[a] = n
            (current,) = call.emit("gather", [current, None], [tuple(shape)], axis=a)
    call.alias(current)


@lax("scatter-add", "scatter_add", "scatter", "scatter-max", "scatter-min", "scatter-mul")
def scatter(call: Call) -> None:
    """Rows that go to places of one axis; what is more involved counts as entries written by chance."""
    base, indices, update = call.args
    numbers = call["dimension_numbers"]
    axes = tuple(numbers.scatter_dims_to_operand_dims)
    known = call.known(indices)
    kind = {"scatter-add": "sum", "scatter_add": "sum", "scatter-max": "max", "scatter-min": "min",
            "scatter-mul": "prod"}.get(call.step.name)  # fmt: skip
    one = len(axes) == 1 and tuple(numbers.inserted_window_dims) == axes and len(update.shape) == len(base.shape)
    if one and kind == "sum":
        axis = axes[0]
        rows = tuple(a for a in range(len(update.shape)) if a not in numbers.update_window_dims)
        order = list(numbers.update_window_dims)
        order[axis:axis] = rows
        counts = places = None
        if known is not None:
            places = known.reshape(-1) % base.shape[axis]
            counts = np.bincount(places, minlength=base.shape[axis]).astype(float)
        call.emit("scatter", [base, call.permuted(update, tuple(order))], axis=axis, kind="sum", include_self=True,
                  counts=counts, places=places)  # fmt: skip
        return
    share = min(prod(update.shape) / max(prod(base.shape), 1), 1.0)
    if kind == "sum":
        (made,) = call.emit("write", [_zeros(call), update], [call.out.shape], fraction=share)
        call.entries("add", [base, made])
        return
    call.emit("write", [base, update], fraction=share)


def _zeros(call: Call) -> Any:
    from ....core.graph.graph import Constant

    shape = call.out.shape
    return Constant(shape, lambda: np.broadcast_to(np.float32(0.0), shape))


@lax("dynamic_update_slice")
def dynamic_update_slice(call: Call) -> None:
    """A part of the base overwritten: along one axis at a known place, what was before it and what comes after."""
    base, update, *starts = call.args
    differing = [a for a, (m, n) in enumerate(zip(base.shape, update.shape, strict=True)) if m != n]
    if not differing:
        call.alias(update)
        return
    known = call.known(starts[differing[0]])
    if len(differing) > 1 or known is None:
        call.emit("write", [base, update], fraction=prod(update.shape) / prod(base.shape))
        return
    axis = differing[0]
    n, width = base.shape[axis], update.shape[axis]
    start = min(max(int(known), 0), n - width)
    pieces: list[Any] = []
    for low, high in ((0, start), (start, start + width), (start + width, n)):
        size = (*base.shape[:axis], high - low, *base.shape[axis + 1 :])
        if low == start and high == start + width:
            pieces.append(update)
        elif high > low:
            pieces += call.emit("slice", [base], [size], axis=axis, start=low, stop=high, step=1)
    call.emit("concat", pieces, axis=axis)
