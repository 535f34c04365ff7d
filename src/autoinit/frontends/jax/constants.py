"""Constants without their repetitions: a mask of (batch, heads, tokens, tokens) is a triangle of (tokens, tokens).

Libraries broadcast masks before they combine them. What a constant repeats is known from the steps that made it, and so
only what differs is worked out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ...core.graph.graph import Constant, Shape
from ..views import constant_view
from .tape import Atom, Step, array_of

BY_ENTRIES = frozenset({
    "and", "or", "not", "xor", "ge", "gt", "le", "lt", "eq", "ne", "add", "sub", "mul", "div", "neg", "max", "min",
    "select_n", "convert_element_type", "exp", "log", "sin", "cos", "integer_pow", "pow", "square", "sign", "abs",
})  # fmt: skip
"""Primitives of operands of one shape that make each entry of the entries in its place."""


def narrowed(atom: Atom) -> Constant:
    """A constant (or sample) with size 1 along axes where it only repeats itself, as far as that is known."""
    step = atom.step
    whole = Constant(atom.shape, lambda: array_of(atom))
    if step is None:
        return whole
    if step.name == "broadcast_in_dim":
        inner = narrowed(step.inputs[0])
        sizes = spread(step, inner.shape)
        return constant_view(inner, sizes, lambda a: a.reshape(sizes))
    if step.name not in BY_ENTRIES or any(len(a.shape) not in (0, len(atom.shape)) for a in step.inputs):
        return whole
    parts = [narrowed(a) for a in step.inputs]
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    return whole if shape == atom.shape else Constant(shape, lambda: _made(step, parts, shape))


def spread(step: Step, inner: Shape) -> Shape:
    """The shape of what a broadcast makes, with size 1 along new and repeated axes; `inner`: that of its operand."""
    sizes = [1] * len(step.outputs[0].shape)
    for n, axis in zip(inner, step.params["broadcast_dimensions"], strict=True):
        sizes[axis] = n
    return tuple(sizes)


def _made(step: Step, parts: list[Constant], shape: Shape) -> NDArray[Any] | None:
    arrays = [part.array() for part in parts]
    if any(array is None for array in arrays):
        return None
    given = [
        np.broadcast_to(np.asarray(a), shape).astype(atom.dtype) for a, atom in zip(arrays, step.inputs, strict=True)
    ]
    with jax.ensure_compile_time_eval():
        return np.asarray(step.run(given)[0])


def entries(atom: Atom, index: Sequence[NDArray[np.int64]]) -> NDArray[Any] | None:
    """Some entries of a constant, whose others are not worked out; None if it is made in another way.

    `index`: along every axis, the places of the entries.
    """
    step, size = atom.step, index[0].shape if index else ()
    if atom.value is not None or step is None:
        return None if atom.value is None else np.asarray(atom.value)[tuple(index)]
    if step.name == "iota":
        return np.asarray(index[step.params["dimension"]], step.params["dtype"])
    if step.name in BY_ENTRIES:
        parts = [entries(x, index if x.shape else ()) for x in step.inputs]
        if any(part is None for part in parts):
            return None
        with jax.ensure_compile_time_eval():
            given = [np.broadcast_to(np.asarray(part), size).astype(x.dtype)
                     for part, x in zip(parts, step.inputs, strict=True)]  # fmt: skip
            return np.asarray(step.run(given)[0])
    if step.name == "broadcast_in_dim":
        axes, inner = step.params["broadcast_dimensions"], step.inputs[0].shape
        return entries(step.inputs[0], [index[a] if n > 1 else 0 * index[a] for n, a in zip(inner, axes, strict=True)])
    if step.name in ("reshape", "squeeze", "expand_dims") and atom.shape and step.inputs[0].shape:
        flat = np.ravel_multi_index(tuple(index), atom.shape)
        return entries(step.inputs[0], np.unravel_index(flat, step.inputs[0].shape))
    return None
