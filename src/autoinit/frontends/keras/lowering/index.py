"""Cuts and picks: indexing, slices, rows of a table, writes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import ParameterView, Value
from ...chance import equal_chance
from .operands import known_array, operand, reference_of, settle, shape_of
from .table import axis_of, keras_op

if TYPE_CHECKING:
    from ..call import Call


@keras_op("GetItem")
def get_item(call: Call) -> None:
    """Integers, slices, new axes and an ellipsis; index arrays only one at a time."""
    x, key = call["x"], call["key"]
    items = list(key) if isinstance(key, (tuple, list)) else [key]
    if any(not (i is None or i is Ellipsis or isinstance(i, (int, np.integer, slice))) for i in items):
        _by_index_array(call, x, items)
        return
    settle(call, _cut(call, x, items))


def _cut(call: Call, x: Any, items: list[Any]) -> Any:
    """One node per axis that is really cut; dropped and new axes at the end."""
    shape = list(shape_of(x))
    if Ellipsis not in items:
        items = [*items, Ellipsis]
    at = items.index(Ellipsis)
    named = sum(i is not None and i is not Ellipsis for i in items)
    items = items[:at] + [slice(None)] * (len(shape) - named) + items[at + 1 :]
    current: Any = reference_of(call, x)
    final: list[int] = []
    axis = 0
    for item in items:
        if item is None:
            final.append(1)
            continue
        n = shape[axis]
        if isinstance(item, slice):
            start, stop, step = item.indices(n)
            length = len(range(start, stop, step))
            if step < 0:
                start, step = start + (length - 1) * step, -step  # backwards: the same entries
            if length != n:
                shape[axis] = length
                stop = start + (length - 1) * step + 1 if length else start
                (current,) = call.emit("slice", [current], [tuple(shape)], axis=axis, start=start, stop=stop, step=step)
            final.append(length)
            axis += 1
        else:
            del shape[axis]
            (current,) = call.emit("select", [current], [tuple(shape)], axis=axis, index=int(item) % n)
    return call.reshaped(current, tuple(final))


def _by_index_array(call: Call, x: Any, items: list[Any]) -> None:
    plain = [k for k, i in enumerate(items) if not (isinstance(i, slice) and i == slice(None))]
    if len(plain) != 1 or items[plain[0]] is None or "bool" in str(getattr(items[plain[0]], "dtype", "")):
        call.unknown()
        return
    _pick(call, x, operand(items[plain[0]]), plain[0])


@keras_op("Slice")
def slice_(call: Call) -> None:
    """A block of a given shape; where it starts may depend on data."""
    x, start = call["inputs"], known_array(call, call["start_indices"])
    shape, out = list(shape_of(x)), shape_of(call.outputs[0])
    starts = [0] * len(shape) if start is None else [int(s) for s in np.ravel(start)]
    current: Any = reference_of(call, x)
    for axis, (s, n) in enumerate(zip(starts, out, strict=True)):
        if shape[axis] != n:
            shape[axis] = n
            (current,) = call.emit("slice", [current], [tuple(shape)], axis=axis, start=s, stop=s + n, step=1)
    settle(call, current)


@keras_op("Take")
def take(call: Call) -> None:
    x, indices = call["x"], operand(call["indices"])
    if call.op.axis is None:
        _pick(call, call.reshaped(x, (prod(shape_of(x)),)), indices, 0)
    else:
        _pick(call, x, indices, axis_of(call.op.axis, len(shape_of(x))))


def _pick(call: Call, x: Any, indices: Any, axis: int) -> None:
    """Rows along one axis; of a weight matrix, they are an embedding."""
    ref = reference_of(call, x)
    index = known_array(call, indices)
    if isinstance(indices, (int, np.integer)):
        call.emit("select", [x], axis=axis, index=int(indices) % shape_of(x)[axis])
        return
    chance = None if index is None else equal_chance(index)
    given = reference_of(call, indices)
    if isinstance(ref, ParameterView) and axis == 0 and len(ref.shape) == 2 and shape_of(indices):
        call.emit("embedding", [ref, given], vocabulary=ref.shape[0], chance=chance)
    else:
        call.emit("gather", [x, given], axis=axis, chance=chance)


@keras_op("TakeAlongAxis")
def take_along_axis(call: Call) -> None:
    """Entries picked along one axis by an index of the same rank: the law of an entry does not change."""
    x, out = call["x"], shape_of(call.outputs[0])
    shape = list(shape_of(x))
    if len(shape) != len(out):
        call.unknown()
        return
    current: Any = reference_of(call, x)
    for axis, n in enumerate(out):
        if shape[axis] != n:
            shape[axis] = n
            (current,) = call.emit("gather", [current, None], [tuple(shape)], axis=axis)
    settle(call, current)


@keras_op("SliceUpdate", "ScatterUpdate")
def write(call: Call) -> None:
    base, update = call["inputs"], operand(call["updates"])
    reduction = getattr(call.op, "reduction", None)
    if reduction not in (None, "replace", "set"):
        call.unknown()
        return
    share = min(prod(shape_of(update)) / max(prod(shape_of(base)), 1), 1.0)
    call.emit("write", [base, update], fraction=share)


@keras_op("SegmentSum")
def segment_sum(call: Call) -> None:
    """Rows that are added up at the places that their segment names."""
    data, out = call["data"], call.outputs[0]
    n = shape_of(out)[0]
    base = np.zeros((1,) * len(out.shape))
    ids = known_array(call, call["segment_ids"])
    counts = places = None
    if ids is not None and ids.size:
        places = ids.reshape(-1).astype(int) % n
        counts = np.bincount(places, minlength=n).astype(float)
    (zeros,) = call.emit("expand", [base], [shape_of(out)])
    call.emit("scatter", [zeros, data], axis=0, kind="sum", counts=counts, places=places)


@keras_op("OneHot", "MultiHot")
def one_hot(call: Call) -> None:
    """Made of indices: a table of zeros and ones."""
    x = next(iter(call.values.values()))
    if isinstance(reference_of(call, x), Value):
        call.unknown()
    else:
        call.constant()
