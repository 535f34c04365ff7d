"""Values that are made of an input with unlike columns (`core.signal.columns`), each column by itself.

Moments of the whole are exact for moves and affine functions of such a value. Any other function of it, a table taken
off it or a choice of some columns is worked out for every column (`places` follows each back to the input) and
put together again as a mixture.
"""

from __future__ import annotations

from collections.abc import Callable

from ..graph.axes_followed import axes_followed
from ..graph.graph import Constant, Node, Value
from ..graph.specs import spec_of
from ..signal.columns import Columns
from ..signal.signal import Signal
from .run import Run

MOST_COLUMNS = 64
"""A function of unlike columns is worked out for so many parts of them at most."""
AFFINE = ("add", "sub", "mul", "div", "neg")
"""With numbers these are exact for moments of the whole."""


Between = Callable[[int, int, int, int], Signal | None]
"""The part of a value from one place of an axis to another."""


class Unlike:
    """Which values have unlike columns, along which axis, and what functions make of them."""

    def __init__(self, run: Run, inputs: dict[int, Signal]) -> None:
        self.run = run
        self.columns: dict[int, Columns] = {}
        """Inputs whose columns are unlike."""
        self.axis: dict[int, int] = {}
        """Values with such columns, and the axis along which they lie."""
        self.worked: set[int] = set()
        """Those of them that are functions of columns: several columns of them are a mixture."""
        for value, signal in inputs.items():
            columns = signal.columns
            if columns is not None:
                self.columns[value], self.axis[value] = columns, columns.axes[-1]

    def seen(self, node: Node) -> None:
        if not self.axis or not (spec_of(node.op).moves or spec_of(node.op).pointwise):
            return
        given = {ref.id for ref in node.inputs if isinstance(ref, Value)}
        for k, value in enumerate(node.outputs):
            for axis in range(len(value.shape)):
                followed = axes_followed(node, k, axis) or ()
                if any(
                    isinstance(ref, Value) and place is not None and self.axis.get(ref.id) == place
                    for ref, place in zip(node.inputs, followed, strict=False)
                ):
                    self.axis[value.id] = axis
            if value.id in self.axis and (given & self.worked or not _is_exact(node)):
                self.worked.add(value.id)

    def part(self, value: int, axis: int, start: int, stop: int) -> Signal | None:
        """Places of an input along an axis of unlike ones; None for any other value."""
        columns = self.columns.get(value)
        return columns.part(axis, start, stop) if columns is not None and axis in columns.axes else None

    def output(self, node: Node, between: Between) -> tuple[Signal, ...] | None:
        """A function of unlike columns (or a choice of them) is a mixture of what it makes of each."""
        if not self.axis:
            return None
        out, spec = node.outputs[0], spec_of(node.op)
        mixed: Signal | None = None
        if spec.moves and spec.indexed:
            mixed = self._chosen(node, between)
        elif spec.pointwise and out.id in self.axis and not _is_exact(node):
            mixed = self.range(out, self.axis[out.id], 0, out.shape[self.axis[out.id]], between)
        if mixed is None:
            return None
        return (mixed if mixed.shape == out.shape else Signal(out.shape, mixed.mean, mixed.K),)

    def _chosen(self, node: Node, between: Between) -> Signal | None:
        first, indices = node.inputs[0], node.inputs[1] if len(node.inputs) > 1 else None
        places = indices.array() if isinstance(indices, Constant) else None
        axis = node.attrs["axis"]
        if not isinstance(first, Value) or self.axis.get(first.id) != axis or places is None or places.ndim != 1:
            return None
        n = first.shape[axis]
        return self._mixture(first, axis, [(int(p) % n, int(p) % n + 1) for p in places[:MOST_COLUMNS]], between)

    def range(self, value: Value, axis: int, start: int, stop: int, between: Between) -> Signal | None:
        """A cut; of functions of unlike columns it is worked out for every one of them (or a few together)."""
        if value.id not in self.worked or self.axis[value.id] != axis:
            return between(value.id, axis, start, stop)
        step = -(-(stop - start) // MOST_COLUMNS)
        return self._mixture(value, axis, [(s, min(s + step, stop)) for s in range(start, stop, step)], between)

    def _mixture(self, value: Value, axis: int, ranges: list[tuple[int, int]], between: Between) -> Signal | None:
        parts = [between(value.id, axis, start, stop) for start, stop in ranges]
        if not parts or any(p is None for p in parts):
            return None
        size = sum(stop - start for start, stop in ranges)
        shape = tuple(size if a == axis else n for a, n in enumerate(value.shape))
        node = Node("concat", (None,) * len(parts), (Value(-1, shape),), {"axis": axis})
        made = self.run.rules.table["concat"](node, self.run, *parts)
        assert isinstance(made, Signal)
        return made


def _is_exact(node: Node) -> bool:
    """Whether the moments of the whole tell what an op makes of unlike columns: moves, and affine functions."""
    tensors = [ref for ref in node.inputs if ref is not None and ref.shape]
    return spec_of(node.op).moves or (len(tensors) == 1 and node.attrs.get("fn") in AFFINE)
