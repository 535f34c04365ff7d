"""A part of a tensor that was put together from unlike pieces.

A class token is concatenated to patches, ones are padded to values, a cut takes them out again many ops later. In
between the tensor is described by the average over its places, but the cut asks for one piece. So a cut is followed
back, op by op, to the concatenation or padding it goes back to; the ops between are then worked out once more, for that
part alone. Ops that mix places along the axis (a contraction or a statistic over it) end the search: there the part is
an average part. If no path ends in a piece, nothing is gained and the plain rule holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..graph.axes_followed import axes_followed
from ..graph.cuts import cuts_of
from ..graph.graph import Constant, Node, Value
from ..graph.specs import spec_of
from ..signal.measured import from_array
from ..signal.signal import Signal, constant
from .run import Run
from .unlike_columns import Unlike

MOST_PARTS = 3000
"""Longer stories are not followed."""


class Cut(NamedTuple):
    """Places start:stop of one axis of a value."""

    value: int
    axis: int
    start: int
    stop: int
    rows: tuple[int, ...] = ()
    """These places instead; the others are 0 and their number."""

    def along(self, value: int, axis: int, shift: int) -> Cut:
        """The same of an operand, of which this is a part from `shift` on."""
        if self.rows:
            return Cut(value, axis, 0, self.stop, tuple(row + shift for row in self.rows))
        return Cut(value, axis, self.start + shift, self.stop + shift)


class Step(NamedTuple):
    """How a cut is worked out, when the cuts that it needs are known."""

    needs: Sequence[Cut]
    made: Callable[[], Signal]
    is_piece: bool = False


class Places:
    """Follows cuts back through the graph of one run, and remembers what it found."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.producer: dict[int, tuple[int, Node, int]] = {}
        self.known: dict[Cut, Signal] = {}
        self.dull: set[Cut] = set()
        self.unlike = Unlike(run, run.signals)
        self.pieces = bool(self.unlike.columns)
        self.pieced: set[int] = set()
        """Cuts (nodes, by identity) that go back to pieces: a second cut of them along another axis stops there."""

    def seen(self, index: int, node: Node) -> None:
        self.pieces = self.pieces or node.op in PUT_TOGETHER
        for k, value in enumerate(node.outputs):
            self.producer[value.id] = (index, node, k)
        self.unlike.seen(node)

    def cut(self, node: Node) -> tuple[Signal, ...] | None:
        """The outputs of a cutting op as parts of what was put together; None if that says nothing new."""
        wanted = cuts_of(node) if self.pieces else []
        source = node.inputs[0] if wanted else None
        if not isinstance(source, Value) or any(cut.step != 1 for cut in wanted):
            return self.unlike.output(node, self._between)
        found: list[Signal] = []
        for (axis, start, _, size, _), out in zip(wanted, node.outputs, strict=True):
            signal = None
            if 0 < size < source.shape[axis]:
                signal = self.unlike.range(source, axis, start, start + size, self._between)
            if signal is None:
                return None
            found.append(self._reshape(signal, out.shape) if signal.shape != out.shape else signal)
        self.pieced.add(id(node))
        return tuple(found)

    def _between(self, value: int, axis: int, start: int, stop: int) -> Signal | None:
        return self.part(Cut(value, axis, start, stop))

    def part(self, cut: Cut) -> Signal | None:
        """The signal of a cut, if it goes back to a piece."""
        story = self._story(cut) if cut not in self.known and cut not in self.dull else {}
        try:
            for step in sorted(story, key=lambda c: self.producer[c.value][0] if c.value in self.producer else -1):
                if step not in self.known:
                    self.known[step] = story[step].made()
        except Doubtful:
            pass
        if cut not in self.known:
            self.dull.add(cut)
        return self.known.get(cut)

    # --- following back -------------------------------------------------------------------------------------------

    def _story(self, cut: Cut) -> dict[Cut, Step]:
        """Every cut on the way; nothing if there is no piece at the end."""
        story: dict[Cut, Step] = {}
        open_cuts = [cut]
        while open_cuts and len(story) <= MOST_PARTS:
            cut = open_cuts.pop()
            if cut not in story:
                story[cut] = self._step(cut)
                open_cuts += story[cut].needs
        return story if not open_cuts and any(step.is_piece for step in story.values()) else {}

    def _step(self, cut: Cut) -> Step:
        column = None if cut.rows else self.unlike.part(*cut[:4])
        if column is not None:
            return Step((), lambda: column, is_piece=True)
        average = Step((), lambda: self._sliced(self.run.signals[cut.value], *cut[1:4]))
        if cut.value not in self.producer:
            return average
        _, node, k = self.producer[cut.value]
        picked = _rows_picked(node, cut)
        if picked is not None:
            return Step((), lambda: self._picked(node, cut, picked), is_piece=True)
        inside = PUT_TOGETHER[node.op](node, cut) if node.op in PUT_TOGETHER and not cut.rows else None
        if inside is not None:
            return Step((), lambda: self._piece(node, cut, *inside), is_piece=True)
        axes = axes_followed(node, k, cut.axis)
        if axes is None or (id(node) in self.pieced and node.attrs["axis"] != cut.axis):
            return average
        cuts = cuts_of(node)
        begin = cuts[k].start if cuts and cuts[k].axis == cut.axis and not cuts[k].goes else None
        shift = begin or 0
        needs = [cut.along(ref.id, axis, shift)
                 if isinstance(ref, Value) and axis is not None and ref.id in self.run.signals else None
                 for ref, axis in zip(node.inputs, axes, strict=True)]  # fmt: skip
        whole = needs[0] if begin is not None else None
        if whole is not None:
            return Step((whole,), lambda: self.known[whole])  # a part of the part
        return Step([c for c in needs if c is not None], lambda: self._again(node, k, cut, axes, needs))

    # --- working out ----------------------------------------------------------------------------------------------

    def _piece(self, node: Node, cut: Cut, slot: int | None, start: int, stop: int) -> Signal:
        shape = tuple(cut.stop - cut.start if a == cut.axis else n for a, n in enumerate(node.outputs[0].shape))
        if slot is None:
            return constant(shape, float(node.attrs.get("value", 0.0)))
        signal = self.run.signal(node, slot)
        assert signal is not None
        stacked = signal.ndim < len(shape)
        return self._reshape(signal, shape) if stacked else self._sliced(signal, cut.axis, start, stop)

    def _picked(self, node: Node, cut: Cut, rows: NDArray[np.int64]) -> Signal:
        """Rows of a table, two of which are the same one as often as it is there."""
        signal, again = self.run.signal(node, 0), np.unique(rows, return_counts=True)[1]
        assert signal is not None
        chance = np.array([1.0, float(again @ (again - 1)) / max(rows.size * (rows.size - 1), 1)])
        shape = tuple(rows.size if a == cut.axis else n for a, n in enumerate(node.outputs[0].shape))
        return self._rule("gather", {"axis": cut.axis, "chance": chance}, signal, shape)

    def _again(self, node: Node, k: int, cut: Cut, axes: Sequence[int | None], needs: Sequence[Cut | None]) -> Signal:
        """The op on parts of its operands."""
        weights = self.run.weights_of(node)
        signals = [
            self.known[need] if need is not None
            else None if slot in weights else self._constant_part(node, slot, axes[slot], cut)
            for slot, need in enumerate(needs)
        ]  # fmt: skip
        size = cut.stop - cut.start
        outputs = tuple(
            Value(-1, tuple(size if a == cut.axis else n for a, n in enumerate(v.shape))) for v in node.outputs
        )
        cuts = cuts_of(node)
        if len(cuts) > 1 and cuts[k].goes:
            assert signals[0] is not None  # of all places of an axis only this one
            return self._rule("select", {"axis": cuts[k].axis, "index": k}, signals[0], outputs[k].shape)
        again = replace(node, outputs=outputs)
        made: Any = self.run.rules.table[node.op](again, self.run.revisited(node), *signals)
        chosen: Signal = made[k] if isinstance(made, tuple) else made
        return chosen

    def _constant_part(self, node: Node, slot: int, axis: int | None, cut: Cut) -> Signal | None:
        """An operand that is not followed: whole, or its own places if it has the axis (a table of positions)."""
        signal, ref = self.run.signal(node, slot), node.inputs[slot]
        if signal is None or axis is None:
            return signal
        table = ref.array() if self.unlike.axis and isinstance(ref, Constant) else None
        if table is not None:
            return from_array(table[(slice(None),) * axis + (list(cut.rows) or slice(cut.start, cut.stop),)])
        return self._sliced(signal, axis, cut.start, cut.stop)

    def _sliced(self, signal: Signal, axis: int, start: int, stop: int) -> Signal:
        shape = tuple(stop - start if a == axis else n for a, n in enumerate(signal.shape))
        attrs = {"axis": axis, "start": start, "stop": stop, "step": 1}
        return self._rule("slice", attrs, signal, shape)

    def _reshape(self, signal: Signal, shape: tuple[int, ...]) -> Signal:
        return self._rule("reshape", {}, signal, shape)

    def _rule(self, op: str, attrs: dict[str, Any], signal: Signal, shape: tuple[int, ...]) -> Signal:
        made = self.run.rules.table[op](Node(op, (None,), (Value(-1, shape),), attrs), self.run, signal)
        assert isinstance(made, Signal)
        return made


Inside = tuple[int | None, int, int] | None
"""(input, start, stop) of the piece that holds a whole cut; input None for a padding; None if no piece does."""


def _in_padded(node: Node, cut: Cut) -> Inside:
    pads = [tuple(p) for p in node.attrs["pads"]]
    if node.attrs.get("mode", "constant") != "constant" or any(p[0] < 0 or p[1] < 0 for p in pads):
        return None
    if any(p != (0, 0) for a, p in enumerate(pads) if a != cut.axis):
        return None
    low = pads[cut.axis][0]
    n = node.inputs[0].shape[cut.axis]  # type: ignore[union-attr]
    if low <= cut.start and cut.stop <= low + n:
        return 0, cut.start - low, cut.stop - low
    return (None, 0, 0) if cut.stop <= low or cut.start >= low + n else None


def _in_joined(node: Node, cut: Cut) -> Inside:
    at, rank = 0, len(node.outputs[0].shape)
    for slot, ref in enumerate(node.inputs if node.attrs["axis"] == cut.axis else ()):
        n = 0 if ref is None else 1 if len(ref.shape) < rank else ref.shape[cut.axis]
        if at <= cut.start and cut.stop <= at + n:
            return slot, cut.start - at, cut.stop - at
        at += n
    return None


def _rows_picked(node: Node, cut: Cut) -> NDArray[np.int64] | None:
    """Which rows of a table the places of a cut are, if an op picks them by known indices."""
    indices = node.inputs[1] if cut.rows and spec_of(node.op).picks and node.attrs["axis"] == cut.axis else None
    table = indices.array() if isinstance(indices, Constant) and len(indices.shape) == 1 else None
    return None if table is None else np.asarray(table, np.int64)[list(cut.rows)]


PUT_TOGETHER: dict[str, Callable[[Node, Cut], Inside]] = {
    "concat": _in_joined, "stack": _in_joined, "pad": _in_padded,
}  # fmt: skip


class Doubtful(Exception):
    """Moments do not tell what an op on the way makes of a part: samples of the whole will."""
