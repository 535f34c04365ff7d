"""Random views of the numbers 0, 1, 2, ... by NumPy, with their layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from autoinit.core.graph.canonical.layout import Axis, Cut, Digit, Layout, Parts, Repeat, of_base, size_of
from autoinit.core.graph.canonical.moves import MOVES
from autoinit.core.graph.graph import Node, Value

BASE = (4, 6, 1, 12)
Array = np.ndarray[Any, Any]


def indices(layout: Layout, shapes: dict[int, tuple[int, ...]]) -> Array:
    """Where in its base, in C order, every entry of a view lies."""
    shape = shapes[layout.base]
    grid = np.indices(layout.shape) if layout.axes else np.zeros((0,), int)
    own: dict[Any, Array] = {}

    def split_into(parts: Parts, value: Array) -> None:
        for part in reversed(parts):
            value, digit = np.divmod(value, part.size)
            if not isinstance(part, Repeat):
                own[part.root] = own.get(part.root, np.zeros(layout.shape, int)) + part.stride * digit

    for k, parts in enumerate(layout.axes):
        split_into(parts, grid[k])
    for digit, value in layout.fixed:
        split_into((digit,), np.full(layout.shape, value))
    while any(isinstance(root, Cut) for root in own):
        cuts = [root for root in own if isinstance(root, Cut)]
        outer = next(r for r in cuts if not any(isinstance(d, Digit) and d.root == r for c in cuts for d in c.of))
        split_into(outer.of, (outer.start + outer.step * own.pop(outer)) % size_of(outer.of))
    flat = np.zeros(layout.shape, int)
    for k, n in enumerate(shape):
        flat = flat * n + own.get(Axis(layout.base, k, n), 0)
    return flat


def moved(array: Array, layout: Layout, op: str, **attrs: Any) -> list[tuple[Array, Layout]] | None:
    made = {
        "reshape": lambda: [array.reshape(attrs["shape"])],
        "permute": lambda: [array.transpose(attrs["perm"])],
        "expand": lambda: [np.broadcast_to(array, attrs["shape"])],
        "repeat": lambda: [np.tile(array, attrs["times"])],
        "slice": lambda: [
            array[(slice(None),) * attrs["axis"] + (slice(attrs["start"], attrs["stop"], attrs["step"]),)]
        ],
        "select": lambda: [np.take(array, attrs["index"], axis=attrs["axis"])],
        "unbind": lambda: [np.take(array, k, axis=attrs["axis"]) for k in range(array.shape[attrs["axis"]])],
        "shuffle": lambda: [_shuffled(array, *attrs["moves"][0])],
        "split": lambda: np.split(array, np.cumsum(attrs["sizes"])[:-1], axis=attrs["axis"]),
    }[op]()
    node = Node(op, (Value(0, array.shape),), tuple(Value(k + 1, m.shape) for k, m in enumerate(made)), attrs)
    found = MOVES[op](node, layout)
    if found is None:
        return None
    assert [x.shape for x in found] == [m.shape for m in made]
    return list(zip(made, found, strict=True))


def _shuffled(array: Array, kind: str, axis: int, shift: int) -> Array:
    return np.flip(array, axis) if kind == "flip" else np.roll(array, shift, axis)


@st.composite
def steps(draw: Any) -> list[tuple[str, Any]]:
    return [
        (draw(st.sampled_from(["split axis", "merge", "permute", "slice", "select", "squeeze", "unsqueeze", "expand",
                               "flatten", "tile", "halves", "flip", "roll"])), draw(st.integers(0, 10**6)))
        for _ in range(draw(st.integers(1, 8)))
    ]  # fmt: skip


def step(array: Array, layout: Layout, name: str, number: int) -> tuple[Array, Layout] | None:
    """One move, chosen by the number; None where it does not apply."""
    rng, shape, d = np.random.default_rng(number), list(array.shape), array.ndim
    if d == 0 and name not in ("unsqueeze",):
        return None
    axis = int(rng.integers(d)) if d else 0
    if name == "split axis":
        divisors = [k for k in range(2, shape[axis]) if shape[axis] % k == 0]
        if not divisors:
            return None
        k = int(rng.choice(divisors))
        made = moved(array, layout, "reshape", shape=(*shape[:axis], k, shape[axis] // k, *shape[axis + 1 :]))
    elif name == "merge":
        if d < 2 or axis == d - 1:
            return None
        made = moved(array, layout, "reshape", shape=(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))
    elif name == "flatten":
        made = moved(array, layout, "reshape", shape=(array.size,))
    elif name == "permute":
        made = moved(array, layout, "permute", perm=tuple(int(k) for k in rng.permutation(d)))
    elif name == "slice":
        start = int(rng.integers(shape[axis]))
        stop = int(rng.integers(start + 1, shape[axis] + 1))
        made = moved(array, layout, "slice", axis=axis, start=start, stop=stop, step=int(rng.integers(1, 3)))
    elif name == "select":
        made = moved(array, layout, "select", axis=axis, index=int(rng.integers(shape[axis])))
    elif name == "halves":
        if shape[axis] < 2:
            return None
        found = moved(array, layout, "split", axis=axis, sizes=(1, shape[axis] - 1))
        made = found and [found[int(rng.integers(2))]]
    elif name in ("flip", "roll"):
        made = moved(array, layout, "shuffle", moves=((name, axis, int(rng.integers(shape[axis]))),))
    elif name == "squeeze":
        if 1 not in shape:
            return None
        k = shape.index(1)
        made = moved(array, layout, "reshape", shape=(*shape[:k], *shape[k + 1 :]))
    elif name == "unsqueeze":
        made = moved(array, layout, "reshape", shape=(*shape[:axis], 1, *shape[axis:]))
    elif name == "expand":
        if 1 not in shape or array.size > 2000:
            return None
        k = shape.index(1)
        made = moved(array, layout, "expand", shape=(*shape[:k], 3, *shape[k + 1 :]))
    else:
        if array.size > 2000:
            return None
        made = moved(array, layout, "repeat", times=[2 if k == axis else 1 for k in range(d)])
    return made[0] if made else None


def followed(array: Array, layout: Layout, story: list[tuple[str, Any]]) -> tuple[Array, Layout]:
    for name, number in story:
        found = step(array, layout, name, number)
        if found is not None:
            array, layout = found
    return array, layout


def start(shape: tuple[int, ...] = BASE) -> tuple[Array, Layout]:
    return np.arange(np.prod(shape)).reshape(shape), of_base(0, shape)
