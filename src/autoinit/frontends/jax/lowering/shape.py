"""Moves of entries: reshapes, transposes, broadcasts, cuts, joins, borders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....core.graph.graph import Constant, ParameterView, Reference
from ...views import constant_view, viewed
from ..constants import spread
from ..tape import number_of
from .table import lax

if TYPE_CHECKING:
    from ..call import Call


@lax("reshape", "squeeze", "expand_dims")
def reshape(call: Call) -> None:
    x = call.args[0]
    if x.shape == call.out.shape:
        call.alias(x)
        return
    ref = call.reference(x)
    made = call.tracer.reshaped(ref, call.out.shape)
    if made is None:
        call.emit("reshape", [ref])
    else:
        call.tracer.set(call.out, made)


@lax("transpose")
def transpose(call: Call) -> None:
    perm = tuple(call["permutation"])
    ref = call.reference(call.args[0])
    if perm == tuple(range(len(perm))) or isinstance(ref, (ParameterView, Constant)):
        call.tracer.set(call.out, call.permuted(ref, perm))
        return
    call.emit("permute", [ref], perm=perm)


@lax("broadcast_in_dim")
def broadcast(call: Call) -> None:
    """Axes of size 1 where something is only repeated: most readers broadcast by themselves."""
    ref = call.tracer.narrow(call.args[0])
    assert ref is not None
    sizes = spread(call.step, tuple(ref.shape))
    narrow = call.reshaped(ref, sizes)
    if sizes == call.out.shape:
        call.tracer.set(call.out, narrow)
    else:
        call.tracer.stretch(call.out, narrow)


@lax("slice")
def slice_(call: Call) -> None:
    shape = call.args[0].shape
    steps = call["strides"] or (1,) * len(shape)
    _cut(call, list(zip(call["start_indices"], call["limit_indices"], steps, strict=True)))


@lax("dynamic_slice")
def dynamic_slice(call: Call) -> None:
    """From a known place on; a place that depends on the signal is taken for the first one."""
    x, *starts = call.args
    ends: list[tuple[int, int, int]] = []
    for start, size, n in zip(starts, call["slice_sizes"], x.shape, strict=True):
        known = call.known(start)
        first = min(max(int(known), 0), n - size) if known is not None else 0
        ends.append((first, first + size, 1))
    _cut(call, ends)


def _cut(call: Call, ends: list[tuple[int, int, int]]) -> None:
    """start:stop:step along every axis."""
    x = call.args[0]
    cuts = tuple(slice(*end) for end in ends)
    ref: Reference = call.reference(x)
    if isinstance(ref, Constant):
        call.tracer.set(call.out, constant_view(ref, call.out.shape, lambda a: a[cuts]))
        return
    if isinstance(ref, ParameterView):
        made = viewed(ref, lambda a: a[cuts])
        if made is not None:
            call.tracer.set(call.out, made)
            return
    todo = [(a, end) for a, (end, n) in enumerate(zip(ends, x.shape, strict=True)) if end != (0, n, 1)]
    if not todo:
        call.alias(ref)
        return
    shape = list(x.shape)
    current: Any = ref
    for k, (axis, (start, stop, step)) in enumerate(todo):
        shape[axis] = len(range(start, stop, step))
        targets: list[Any] = [call.out] if k == len(todo) - 1 else [tuple(shape)]
        (current,) = call.emit("slice", [current], targets, axis=axis, start=start, stop=stop, step=step)


@lax("split")
def split(call: Call) -> None:
    axis, sizes = int(call["axis"]), tuple(int(n) for n in call["sizes"])
    ref = call.reference(call.args[0])
    if not isinstance(ref, (ParameterView, Constant)):
        call.emit("split", [ref], axis=axis, sizes=sizes)
        return
    start = 0
    for out, size in zip(call.outputs, sizes, strict=True):
        cut = (slice(None),) * axis + (slice(start, start + size),)
        start += size
        if isinstance(ref, Constant):
            call.tracer.set(out, constant_view(ref, out.shape, lambda a, cut=cut: a[cut]))  # type: ignore[misc]
        else:
            call.tracer.set(out, viewed(ref, lambda a, cut=cut: a[cut]))  # type: ignore[misc]


@lax("concatenate")
def concatenate(call: Call) -> None:
    parts = [a for a in call.args if 0 not in a.shape]
    if len(parts) == 1:
        call.alias(parts[0])
        return
    call.emit("concat", list(parts), axis=int(call["dimension"]))


@lax("stack")
def stack(call: Call) -> None:
    call.emit("stack", list(call.args), axis=int(call["axis"]))


@lax("unstack")
def unstack(call: Call) -> None:
    call.emit("unbind", [call.args[0]], axis=int(call["axis"]))


@lax("rev")
def flip(call: Call) -> None:
    call.emit("shuffle", [call.args[0]], moves=tuple(("flip", int(a), 0) for a in call["dimensions"]))


@lax("pad")
def pad(call: Call) -> None:
    """Borders; negative ones are cut off, and entries in between are zeros."""
    x, value = call.args
    number = number_of(value)
    pads = tuple((int(low), int(high)) for low, high, _ in call["padding_config"])
    if number is None or any(inner for *_, inner in call["padding_config"]):
        call.unknown()
        return
    current: Any = x
    shape = list(x.shape)
    if any(low < 0 or high < 0 for low, high in pads):
        for axis, (low, high) in enumerate(pads):
            start, stop = max(-low, 0), shape[axis] - max(-high, 0)
            if (start, stop) != (0, shape[axis]):
                shape[axis] = stop - start
                (current,) = call.emit("slice", [current], [tuple(shape)], axis=axis, start=start, stop=stop, step=1)
    pads = tuple((max(low, 0), max(high, 0)) for low, high in pads)
    if any(low or high for low, high in pads):
        call.emit("pad", [current], pads=pads, mode="constant", value=number)
    else:
        call.alias(current)


@lax("sort")
def sort(call: Call) -> None:
    """Entries in an order that nobody knows; what is sorted along with keys keeps its law too."""
    for x, out in zip(call.args, call.outputs, strict=True):
        if out.is_float:
            call.emit("shuffle", [x], [out])
        else:
            call.tracer.set(out, Constant(out.shape, lambda: None))


@lax("tile")
def tile(call: Call) -> None:
    call.emit("repeat", [call.args[0]], repeats=tuple(call["reps"]))
