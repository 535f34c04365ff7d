"""Structure: reshapes, transposes, concatenation, splitting, padding, repetition.

Reshapes and cuts of a weight that are views of it never come here (`parameters`), nor those of constants.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Value
from .arithmetic import first
from .operands import operand, reference_of, settle, shape_of
from .table import axes_of, axis_of, keras_op

if TYPE_CHECKING:
    from ..call import Call


@keras_op("Reshape", "Ravel", "ExpandDims", "Squeeze")
def reshape(call: Call) -> None:
    x, shape = first(call), shape_of(call.outputs[0])
    ref = reference_of(call, x)
    if isinstance(ref, Value):
        call.emit("identity" if ref.shape == shape else "reshape", [ref])
    else:
        settle(call, call.reshaped(ref, shape))


def _permute(call: Call, x: Any, perm: tuple[int, ...]) -> None:
    ref = reference_of(call, x)
    if isinstance(ref, Value):
        call.emit("permute", [ref], perm=perm)
    else:
        call.alias(call.permuted(ref, perm))


@keras_op("Transpose")
def transpose(call: Call) -> None:
    n = len(shape_of(call["x"]))
    axes = call.op.axes
    _permute(call, call["x"], tuple(reversed(range(n))) if axes is None else axes_of(axes, n))


@keras_op("Swapaxes")
def swapaxes(call: Call) -> None:
    n = len(shape_of(call["x"]))
    order = list(range(n))
    a, b = axis_of(call.op.axis1, n), axis_of(call.op.axis2, n)
    order[a], order[b] = order[b], order[a]
    _permute(call, call["x"], tuple(order))


@keras_op("Moveaxis")
def moveaxis(call: Call) -> None:
    n = len(shape_of(call["x"]))
    source, target = axes_of(call.op.source, n), axes_of(call.op.destination, n)
    order = [a for a in range(n) if a not in source]
    for to, a in sorted(zip(target, source, strict=True)):
        order.insert(to, a)
    _permute(call, call["x"], tuple(order))


@keras_op("Rearrange")
def rearrange(call: Call) -> None:
    """einops: split the axes in brackets, put them in order, merge the ones in brackets."""
    left, right = re.split(r"\s*->\s*", call["pattern"].strip())
    groups = [[_axis_names(g) for g in re.findall(r"\w+|\(.*?\)", side)] for side in (left, right)]
    sizes: dict[str, int] = {k: int(v) for k, v in call.get("axes_lengths", {}).items()}
    x = call["tensor"]
    for names, n in zip(groups[0], shape_of(x), strict=True):
        missing = [name for name in names if name not in sizes]
        if missing:
            sizes[missing[0]] = n // prod(sizes[name] for name in names if name != missing[0])
    given, wanted = ([name for group in side for name in group] for side in groups)
    fine = call.reshaped(x, tuple(sizes[name] for name in given))
    turned = call.permuted(fine, tuple(given.index(name) for name in wanted))
    settle(call, call.reshaped(turned, shape_of(call.outputs[0])))


def _axis_names(group: str) -> list[str]:
    return group.strip("()").split()


@keras_op("BroadcastTo")
def broadcast(call: Call) -> None:
    call.emit("expand", [call["x"]])


@keras_op("Meshgrid")
def meshgrid(call: Call) -> None:
    items = list(call["x"])
    n = len(items)
    for k, (item, out) in enumerate(zip(items, call.outputs, strict=True)):
        axis = 1 - k if call.op.indexing == "xy" and k < 2 and n > 1 else k
        flat = call.reshaped(item, tuple(prod(shape_of(item)) if a == axis else 1 for a in range(n)))
        call.emit("expand", [flat], [out])


@keras_op("Tile")
def tile(call: Call) -> None:
    x, out = call["x"], shape_of(call.outputs[0])
    shape = (1,) * (len(out) - len(shape_of(x))) + shape_of(x)
    call.emit("repeat", [call.reshaped(x, shape)], repeats=tuple(b // a for a, b in zip(shape, out, strict=True)))


@keras_op("Repeat")
def repeat(call: Call) -> None:
    """Every entry several times: the law of pairs is that of tiling."""
    x, axis, repeats = call["x"], call.op.axis, call.op.repeats
    if not isinstance(repeats, int) and len(set(np.ravel(np.asarray(repeats)).tolist())) != 1:
        call.unknown()
        return
    whole = call.reshaped(x, (prod(shape_of(x)),)) if axis is None else x
    shape, out = shape_of(whole), shape_of(call.outputs[0])
    call.emit("repeat", [whole], repeats=tuple(b // a for a, b in zip(shape, out, strict=True)))


@keras_op("Concatenate")
def concatenate(call: Call) -> None:
    call.emit("concat", [operand(x) for x in call["xs"]], axis=axis_of(call.op.axis, len(call.outputs[0].shape)))


@keras_op("Append")
def append(call: Call) -> None:
    parts = [call["x1"], call["x2"]]
    if call.op.axis is None:
        parts = [call.reshaped(x, (prod(shape_of(x)),)) for x in parts]
    call.emit("concat", parts, axis=axis_of(call.op.axis or 0, len(call.outputs[0].shape)))


@keras_op("Hstack", "Vstack", "Dstack")
def stacked_along(call: Call) -> None:
    """Vectors are lifted first: to rows for vstack, to depth for dstack."""
    parts = []
    for x in call["xs"]:
        shape = shape_of(x)
        if call.name == "Vstack" and len(shape) < 2:
            x = call.reshaped(x, (1, prod(shape)))
        elif call.name == "Dstack" and len(shape) < 3:
            x = call.reshaped(x, (1, prod(shape), 1) if len(shape) < 2 else (*shape, 1))
        elif call.name == "Hstack" and not shape:
            x = call.reshaped(x, (1,))
        parts.append(x)
    rank = len(shape_of(parts[0]))
    call.emit("concat", parts, axis={"Vstack": 0, "Dstack": 2}.get(call.name, 0 if rank == 1 else 1))


@keras_op("Stack")
def stack(call: Call) -> None:
    items = call["x"]
    call.emit("stack", [operand(x) for x in items], axis=axis_of(call.op.axis, len(call.outputs[0].shape)))


@keras_op("Split", "ArraySplit", "Hsplit", "Vsplit", "Dsplit")
def split(call: Call) -> None:
    x = call["x"]
    n = len(shape_of(x))
    default = {"Hsplit": 1 if n > 1 else 0, "Vsplit": 0, "Dsplit": 2}
    axis = default[call.name] if call.name in default else axis_of(call.op.axis, n)
    call.emit("split", [x], axis=axis, sizes=tuple(shape_of(out)[axis] for out in call.outputs))


@keras_op("Unstack")
def unstack(call: Call) -> None:
    x = call["x"]
    call.emit("unbind", [x], axis=axis_of(call.op.axis, len(shape_of(x))))


_PAD_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "symmetric": "reflect",
    "edge": "replicate",
    "wrap": "circular",
}
"""Symmetric reflection repeats the border entry too: one place of difference, which moments hardly see."""


@keras_op("Pad")
def pad(call: Call) -> None:
    x, op = call["x"], call.op
    n = len(shape_of(x))
    mode = _PAD_MODES.get(op.mode)
    if mode is None:
        call.unknown()
        return
    widths = np.broadcast_to(np.asarray(op.pad_width, dtype=int), (n, 2))
    value = call.get("constant_values", 0.0)
    call.emit("pad", [x], pads=tuple((int(a), int(b)) for a, b in widths), mode=mode, value=float(value))


@keras_op("Flip", "Fliplr", "Flipud")
def flip(call: Call) -> None:
    x = first(call)
    n = len(shape_of(x))
    axes = {"Fliplr": (1,), "Flipud": (0,)}.get(call.name) or axes_of(call.op.axis, n)
    call.emit("shuffle", [x], moves=tuple(("flip", a, 0) for a in axes))


@keras_op("Roll")
def roll(call: Call) -> None:
    x = first(call)
    shape = shape_of(x)
    shifts = np.atleast_1d(call.op.shift)
    if call.op.axis is None:  # all entries in a row
        flat = call.emit("reshape", [x], [(prod(shape),)])[0]
        moved = call.emit("shuffle", [flat], [(prod(shape),)], moves=(("roll", 0, int(shifts[0])),))[0]
        call.emit("reshape", [moved])
        return
    axes = axes_of(call.op.axis, len(shape))
    moves = tuple(("roll", a, int(s)) for a, s in zip(axes, np.broadcast_to(shifts, len(axes)), strict=True))
    call.emit("shuffle", [x], moves=moves)


@keras_op("Sort")
def sort(call: Call) -> None:
    call.emit("shuffle", [first(call)])


@keras_op("Rot90")
def rot90(call: Call) -> None:
    x = call["array"]
    a, b = axes_of(call.op.axes, len(shape_of(x)))
    order = list(range(len(shape_of(x))))
    if call.op.k % 2:
        order[a], order[b] = order[b], order[a]
    call.emit("shuffle", [call.permuted(x, tuple(order))])


@keras_op("Tril", "Triu")
def triangle(call: Call) -> None:
    call.emit("triangle", [call["x"]], lower=call.name == "Tril", diagonal=int(call.op.k))


@keras_op("Diagonal")
def diagonal(call: Call) -> None:
    x = call["x"]
    _diagonal(call, x, call.outputs[0])


def _diagonal(call: Call, x: Any, target: Any) -> Any:
    """The shifted diagonal of two axes, as a square cut out first."""
    n = len(shape_of(x))
    a, b = axis_of(call.op.axis1, n), axis_of(call.op.axis2, n)
    shape, k = list(shape_of(x)), int(call.op.offset)
    size = max(min(shape[a] - max(-k, 0), shape[b] - max(k, 0)), 0)
    current: Any = x
    for axis, start in ((a, max(-k, 0)), (b, max(k, 0))):
        if shape[axis] != size or start:
            shape[axis] = size
            (current,) = call.emit(
                "slice", [current], [tuple(shape)], axis=axis, start=start, stop=start + size, step=1
            )
    return call.emit("diagonal", [current], [target], axis1=a, axis2=b)[0]


@keras_op("Trace")
def trace(call: Call) -> None:
    x = call["x"]
    shape, n = shape_of(x), len(shape_of(x))
    a, b = axis_of(call.op.axis1, n), axis_of(call.op.axis2, n)
    k = int(call.op.offset)
    size = max(min(shape[a] - max(-k, 0), shape[b] - max(k, 0)), 0)
    kept = tuple(m for axis, m in enumerate(shape) if axis not in (a, b))
    made = _diagonal(call, x, (*kept, size))
    call.emit("reduce", [made], kind="sum", axes=(len(kept),), keepdim=False)


@keras_op("DepthToSpace", "SpaceToDepth")
def depth_and_space(call: Call) -> None:
    """Blocks of places into channels and back (block row, block column, channel)."""
    x, r = call["x"], int(call.op.block_size)
    last = call.op.data_format != "channels_first"
    b, *rest = shape_of(x)
    h, w, c = rest if last else (*rest[1:], rest[0])
    current = x if last else call.permuted(x, (0, 2, 3, 1))
    if call.name == "DepthToSpace":
        fine = call.reshaped(current, (b, h, w, r, r, c // (r * r)))
        turned = call.permuted(fine, (0, 1, 3, 2, 4, 5))
        made = call.reshaped(turned, (b, h * r, w * r, c // (r * r)))
    else:
        fine = call.reshaped(current, (b, h // r, r, w // r, r, c))
        turned = call.permuted(fine, (0, 1, 3, 2, 4, 5))
        made = call.reshaped(turned, (b, h // r, w // r, c * r * r))
    settle(call, made if last else call.permuted(made, (0, 3, 1, 2)))
