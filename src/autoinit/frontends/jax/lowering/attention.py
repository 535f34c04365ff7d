"""Attention that `structure` found, as one op on (..., tokens, features)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....core.graph.graph import Constant
from ..constants import entries
from ..tape import Atom, array_of
from .table import whole

if TYPE_CHECKING:
    from ..call import Call

LARGEST_MASK = 2**20
"""Of larger masks only some entries are compared with a triangle: next to the diagonal, at the ends, and at random."""

AT_RANDOM = 16
"""So many entries of each row."""


@whole("attention")
def attention(call: Call) -> None:
    found: Any = call.step.whole
    attrs = found.attrs
    parts = []
    for x, order in zip(found.operands[:3], attrs["orders"], strict=True):
        others = tuple(a for a in range(len(x.shape)) if a not in order)  # of size 1
        turned = call.permuted(x, (*others, *order))
        parts.append(call.reshaped(turned, tuple(x.shape[a] for a in order)))
    queries, keys, values = parts
    assert queries is not None and keys is not None and values is not None
    causal, mask = False, None
    if attrs["mask"] is not None:
        places, hidden = attrs["mask"]
        mask = _mask(call, found.operands[3], places, hidden, (*queries.shape[:-1], keys.shape[-2]))
        causal = _is_triangle(mask, found.operands[3], places, hidden)
    shape = (*queries.shape[:-1], values.shape[-1])
    (made,) = call.emit(
        "attention", [queries, keys, values, None if causal else mask], [shape], causal=causal, scale=attrs["scale"],
        dropout=attrs["dropout"], grouped=False,
    )  # fmt: skip
    call.tracer.graph.nodes[-1].call = call.tracer.occurrence
    turned = call.permuted(made, attrs["perm"])
    call.tracer.set(call.out, call.reshaped(turned, call.out.shape))


def _mask(call: Call, chosen: Atom, places: tuple[int | None, ...], hidden: bool, shape: tuple[int, ...]) -> Constant:
    """True where a key is seen, with size 1 where it does not depend on an axis."""
    narrow = call.tracer.narrow(chosen)
    assert narrow is not None
    given = narrow if isinstance(narrow, Constant) else Constant(chosen.shape, lambda: array_of(chosen))
    sizes = [1] * len(shape)
    for n, place in zip(given.shape, places, strict=True):
        if place is not None:
            sizes[place] = n
    order = sorted(range(len(places)), key=lambda a: -1 if places[a] is None else places[a])  # type: ignore[arg-type, return-value]

    def array() -> NDArray[Any] | None:
        values = given.array()
        return None if values is None else (values.transpose(order).reshape(sizes).astype(bool) != hidden)

    return Constant(tuple(sizes), array)


def _is_triangle(mask: Constant, chosen: Atom, places: tuple[int | None, ...], hidden: bool) -> bool:
    """Whether later tokens are hidden, and nothing else."""
    rows, columns = mask.shape[-2:]
    if rows != columns or rows == 1 or any(n != 1 for n in mask.shape[:-2]):
        return False
    if rows * columns > LARGEST_MASK:
        seen = _seen(chosen, places, hidden, rows)
        if seen is not None:
            return seen
    array = mask.array()
    return array is not None and bool(np.array_equal(array.reshape(rows, columns), np.tri(rows, dtype=bool)))


def _seen(chosen: Atom, places: tuple[int | None, ...], hidden: bool, n: int) -> bool | None:
    """The same by some entries; None if these cannot be worked out alone."""
    each = np.arange(n)
    columns = [np.clip(each + shift, 0, n - 1) for shift in (-1, 0, 1)] + [0 * each, 0 * each + n - 1]
    columns += list(np.random.default_rng(0).integers(0, n, (AT_RANDOM, n)))
    row, column = np.tile(each, len(columns)), np.concatenate(columns)
    rank = len(places)
    axes = {p: a for a, p in enumerate(places) if p is not None and chosen.shape[a] == n}
    ends = sorted(axes)[-2:]
    index = [np.zeros_like(row) for _ in range(rank)]
    if len(ends) < 2:
        return None
    index[axes[ends[0]]], index[axes[ends[1]]] = row, column
    found = entries(chosen, index)
    return None if found is None else bool(np.array_equal(found.astype(bool) != hidden, column <= row))
