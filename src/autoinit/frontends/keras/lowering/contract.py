"""Dense, matmul, einsum and their kin; rows of an embedding table.

A contraction of data with a weight is a `linear` node wherever axes can be merged for it (then its bias can join it,
see `bias`); a contraction of two data tensors over one axis is a `matmul` (attention is recognised there).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ....core.graph.graph import ParameterView, Value
from ...einsum import explicit
from ...views import permuted_view, reshaped_view
from .operands import reference_of, settle, shape_of
from .table import axis_of, keras_op

if TYPE_CHECKING:
    from ..call import Call

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@keras_op("Matmul")
def matmul(call: Call) -> None:
    a, b = call["x1"], call["x2"]
    left, right = reference_of(call, a), reference_of(call, b)
    if isinstance(right, ParameterView) and len(right.shape) == 2 and isinstance(left, Value):
        call.emit("linear", [left, permuted_view(right, (1, 0)), None])
    else:
        call.emit("matmul", [left, right])


@keras_op("Dot")
def dot(call: Call) -> None:
    """numpy.dot: the last axis of the first with the last but one of the second."""
    a, b = shape_of(call["x1"]), shape_of(call["x2"])
    if not a or not b:
        call.emit("elementwise", [call["x1"], call["x2"]], fn="mul", params=())
        return
    left, inner = LETTERS[: len(a) - 1], "Z"
    right = LETTERS[len(a) : len(a) + len(b)]
    at = max(len(b) - 2, 0)
    right = right[:at] + inner + right[at + 1 :]
    contract(call, f"{left}{inner},{right}->{left}{right.replace(inner, '')}", call["x1"], call["x2"])


@keras_op("Inner")
def inner(call: Call) -> None:
    a, b = shape_of(call["x1"]), shape_of(call["x2"])
    if not a or not b:
        call.emit("elementwise", [call["x1"], call["x2"]], fn="mul", params=())
        return
    left, right = LETTERS[: len(a) - 1], LETTERS[len(a) : len(a) + len(b) - 1]
    contract(call, f"{left}Z,{right}Z->{left}{right}", call["x1"], call["x2"])


@keras_op("Outer", "Vdot")
def of_vectors(call: Call) -> None:
    """Both operands are flattened first."""
    flat = [call.reshaped(x, (prod(shape_of(x)),)) for x in (call["x1"], call["x2"])]
    contract(call, "a,b->ab" if call.name == "Outer" else "a,a->", *flat)


@keras_op("Tensordot")
def tensordot(call: Call) -> None:
    a, b, axes = shape_of(call["x1"]), shape_of(call["x2"]), call.op.axes
    if isinstance(axes, int):
        over_a, over_b = tuple(range(len(a) - axes, len(a))), tuple(range(axes))
    else:
        pairs = [(item,) if isinstance(item, int) else tuple(item) for item in axes]
        over_a = tuple(axis_of(i, len(a)) for i in pairs[0])
        over_b = tuple(axis_of(i, len(b)) for i in pairs[1])
    left = list(LETTERS[: len(a)])
    right = list(LETTERS[len(a) : len(a) + len(b)])
    for i, j in zip(over_a, over_b, strict=True):
        right[j] = left[i]
    kept = [c for k, c in enumerate(left) if k not in over_a] + [c for k, c in enumerate(right) if k not in over_b]
    contract(call, f"{''.join(left)},{''.join(right)}->{''.join(kept)}", call["x1"], call["x2"])


@keras_op("Einsum")
def einsum(call: Call) -> None:
    operands = list(call["operands"])
    equation = explicit(call.op.subscripts, [len(shape_of(t)) for t in operands])
    if len(operands) == 2:
        contract(call, equation, *operands)
    else:
        call.emit("einsum", operands, equation=equation)


def contract(call: Call, equation: str, a: Any, b: Any) -> None:
    """Two operands by an explicit equation, as `linear` or `matmul` where that is the same thing."""
    left, right = reference_of(call, a), reference_of(call, b)
    names, out = equation.split("->")
    one, two = names.split(",")
    plain = all(len(set(text)) == len(text) for text in (one, two, out))
    if plain and isinstance(right, ParameterView) and isinstance(left, Value):
        if _as_linear(call, one, two, out, left, right):
            return
    elif plain and isinstance(left, ParameterView) and isinstance(right, Value):
        if _as_linear(call, two, one, out, right, left):
            return
    elif (
        plain and isinstance(left, Value) and isinstance(right, Value) and _as_matmul(call, one, two, out, left, right)
    ):
        return
    call.emit("einsum", [left, right], equation=equation)


def _as_linear(call: Call, x_labels: str, w_labels: str, out: str, x: Value, w: ParameterView) -> bool:
    """x (lead, inner) W (outer, inner)^T -> (lead, outer), with axes of each kind merged; False if that cannot be."""
    inner = [c for c in x_labels if c in w_labels and c not in out]
    outer = [c for c in out if c in w_labels and c not in x_labels]
    lead = [c for c in x_labels if c not in w_labels]
    if len(inner) + len(outer) != len(w_labels) or not inner or any(c not in out for c in lead):
        return False
    sizes = dict(zip(w_labels, w.shape, strict=True)) | dict(zip(x_labels, x.shape, strict=True))
    turned = permuted_view(w, tuple(w_labels.index(c) for c in outer + inner))
    flat = reshaped_view(turned, (prod(sizes[c] for c in outer), prod(sizes[c] for c in inner)))
    if flat is None:
        return False
    moved = call.permuted(x, tuple(x_labels.index(c) for c in lead + inner))
    kept = tuple(sizes[c] for c in lead)
    moved = call.reshaped(moved, (*kept, flat.shape[1]))
    final = "".join(lead + outer)
    whole = (*kept, flat.shape[0])
    if whole == shape_of(call.outputs[0]) and final == out:
        call.emit("linear", [moved, flat, None])
        return True
    made = call.emit("linear", [moved, flat, None], [whole])[0]
    node = call.tracer.graph.nodes[-1]
    node.call = call.tracer.occurrence  # measured where the operation ends: the same entries in another shape
    split = call.reshaped(made, tuple(sizes[c] for c in final))
    if final != out:
        split = call.permuted(split, tuple(final.index(c) for c in out))
    call.alias(split)
    return True


def _as_matmul(call: Call, one: str, two: str, out: str, a: Value, b: Value) -> bool:
    """Batches of (rows, inner) times (inner, columns); False unless each of these is one axis at most."""
    batch = [c for c in out if c in one and c in two]
    inner = [c for c in one if c in two and c not in out]
    rows = [c for c in out if c in one and c not in two]
    columns = [c for c in out if c in two and c not in one]
    if len(inner) != 1 or len(rows) != 1 or len(columns) != 1:
        return False
    if len(batch) + 2 != len(one) or len(batch) + 2 != len(two):
        return False
    sizes = dict(zip(one, a.shape, strict=True)) | dict(zip(two, b.shape, strict=True))
    left = call.permuted(a, tuple(one.index(c) for c in batch + rows + inner))
    right = call.permuted(b, tuple(two.index(c) for c in batch + inner + columns))
    final = batch + rows + columns
    (made,) = call.emit("matmul", [left, right], [tuple(sizes[c] for c in final)])
    turned = call.permuted(made, tuple(final.index(c) for c in out))
    settle(call, turned)
    return True


@keras_op("Kron")
def kron(call: Call) -> None:
    a, b = shape_of(call["x1"]), shape_of(call["x2"])
    if len(a) != 2 or len(b) != 2:
        call.unknown()
        return
    shape = (a[0], b[0], a[1], b[1])
    (made,) = call.emit("einsum", [call["x1"], call["x2"]], [shape], equation="ac,bd->abcd")
    call.emit("reshape", [made])
