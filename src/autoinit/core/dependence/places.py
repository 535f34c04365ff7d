"""A part of a tensor that was put together from unlike pieces.

A class token is concatenated to patches, ones are padded to values, a cut takes them out again many ops later. In
between the tensor is described by the average over its places, but the cut asks for one piece. So a cut is followed
back, op by op, to the concatenation or padding it goes back to; the ops between are then worked out once more, for that
part alone. Ops that mix places along the axis (a contraction or a statistic over it) end the search: there the part is
an average part. If no path ends in a piece, nothing is gained and the plain rule holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from ..graph.cuts import wanted_cuts
from ..graph.graph import Constant, Node, Value
from ..signal.measured import from_array
from ..signal.signal import Signal, constant
from .relations import Relations
from .run import Run
from .unlike_columns import Unlike

PUT_TOGETHER = ("concat", "stack", "pad")
MOST_PARTS = 3000
"""Longer stories are not followed."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Places start:stop of one axis of a value."""

    value: int
    axis: int
    start: int
    stop: int


class Places:
    """Follows cuts back through the graph of one run, and remembers what it found."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.producer: dict[int, tuple[int, Node, int]] = {}
        self.pieces = False
        self.known: dict[Cut, Signal] = {}
        self.dull: set[Cut] = set()
        self.unlike = Unlike(self, run.signals)
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
        wanted = wanted_cuts(node) if self.pieces else None
        if wanted is None:
            return self.unlike.output(node)
        source = node.inputs[0]
        assert isinstance(source, Value)
        found: list[Signal] = []
        for (axis, start, stop), out in zip(wanted, node.outputs, strict=True):
            signal = None
            if 0 < stop - start < source.shape[axis]:
                signal = self.unlike.range(source, axis, start, stop)
            if signal is None:
                return None
            found.append(self._reshape(signal, out.shape) if signal.shape != out.shape else signal)
        self.pieced.add(id(node))
        return tuple(found)

    def between(self, value: Value, axis: int, start: int, stop: int) -> Signal | None:
        return self.part(Cut(value.id, axis, start, stop))

    def followed(self, node: Node, k: int, axis: int) -> list[int | None] | None:
        return axes_followed(node, k, axis)

    def part(self, cut: Cut) -> Signal | None:
        """The signal of a cut, if it goes back to a piece."""
        if cut in self.known:
            return self.known[cut]
        if cut in self.dull:
            return None
        story = self._story(cut)
        if story is None:
            self.dull.add(cut)
            return None
        for step in sorted(story, key=lambda c: self.producer[c.value][0] if c.value in self.producer else -1):
            if step in self.known:
                continue
            try:
                self.known[step] = self._worked_out(step, story[step])
            except Doubtful:
                self.dull.add(cut)
                return None
        return self.known[cut]

    # --- following back -------------------------------------------------------------------------------------------

    def _story(self, cut: Cut) -> dict[Cut, list[Cut | None] | None] | None:
        """Every cut on the way with what it needs of its op's inputs (None: taken as it is); None without a piece."""
        story: dict[Cut, list[Cut | None] | None] = {}
        open_cuts, ends_in_piece = [cut], False
        while open_cuts:
            step = open_cuts.pop()
            if step in story:
                continue
            needs, piece = self._needs(step)
            story[step] = needs
            ends_in_piece = ends_in_piece or piece
            open_cuts += [c for c in needs or () if c is not None]
            if len(story) > MOST_PARTS:
                return None
        return story if ends_in_piece else None

    def _needs(self, cut: Cut) -> tuple[list[Cut | None] | None, bool]:
        found = self.producer.get(cut.value)
        if found is None:
            known = self.unlike.part(cut.value, cut.axis, cut.start, cut.stop)
            return ([], True) if known is not None else (None, False)
        _, node, k = found
        if node.op in PUT_TOGETHER:
            inside = self._piece(node, cut)
            if inside is not None:
                return [], True
        axes = axes_followed(node, k, cut.axis)
        if axes is None or (id(node) in self.pieced and node.attrs["axis"] != cut.axis):
            return None, False
        shift = _shift(node, k, cut.axis)
        needs: list[Cut | None] = []
        for ref, axis in zip(node.inputs, axes, strict=True):
            followed = isinstance(ref, Value) and axis is not None and ref.id in self.run.signals
            needs.append(Cut(ref.id, axis, cut.start + shift, cut.stop + shift) if followed else None)  # type: ignore
        return needs, False

    def _piece(self, node: Node, cut: Cut) -> tuple[int | None, int, int] | None:
        """(input, start, stop) of the piece that holds the whole cut; input None for the padding."""
        if node.op == "pad":
            if node.attrs.get("mode", "constant") != "constant" or any(
                p[0] < 0 or p[1] < 0 for p in node.attrs["pads"]
            ):
                return None
            if any(p != (0, 0) for a, p in enumerate(map(tuple, node.attrs["pads"])) if a != cut.axis):
                return None
            low = node.attrs["pads"][cut.axis][0]
            n = node.inputs[0].shape[cut.axis]  # type: ignore[union-attr]
            if low <= cut.start and cut.stop <= low + n:
                return 0, cut.start - low, cut.stop - low
            return (None, 0, 0) if cut.stop <= low or cut.start >= low + n else None
        if node.attrs["axis"] != cut.axis:
            return None
        if node.op == "stack":
            return (cut.start, 0, 1) if cut.stop == cut.start + 1 else None
        at = 0
        for slot, ref in enumerate(node.inputs):
            n = ref.shape[cut.axis] if ref is not None and len(ref.shape) > cut.axis else 0
            if at <= cut.start and cut.stop <= at + n:
                return slot, cut.start - at, cut.stop - at
            at += n
        return None

    # --- working out ----------------------------------------------------------------------------------------------

    def _worked_out(self, cut: Cut, needs: list[Cut | None] | None) -> Signal:
        if needs is None:
            return self._sliced(self.run.signals[cut.value], cut.axis, cut.start, cut.stop)
        known = self.unlike.part(cut.value, cut.axis, cut.start, cut.stop)
        if known is not None:
            return known
        _, node, k = self.producer[cut.value]
        if node.op in PUT_TOGETHER:
            inside = self._piece(node, cut)
            if inside is not None:
                slot, start, stop = inside
                shape = list(node.outputs[0].shape)
                shape[cut.axis] = cut.stop - cut.start
                if slot is None:
                    return constant(shape, float(node.attrs.get("value", 0.0)))
                signal = self.run.signal(node, slot)
                assert signal is not None
                if node.op == "stack":
                    return self._reshape(signal, tuple(shape))
                return self._sliced(signal, cut.axis, start, stop)
        if node.op in ("slice", "split") and node.attrs["axis"] == cut.axis and needs[0] is not None:
            return self.known[needs[0]]  # a part of the part
        signals: list[Signal | None] = []
        for slot, need in enumerate(needs):
            if need is not None:
                signals.append(self.known[need])
            elif slot in self.run.weights_of(node):
                signals.append(None)
            else:
                signals.append(self._constant_part(node, k, slot, cut))
        size = cut.stop - cut.start
        outputs = tuple(
            Value(-1, tuple(size if a == cut.axis else n for a, n in enumerate(v.shape))) for v in node.outputs
        )
        if node.op == "unbind":
            assert signals[0] is not None
            return self._rule("select", {"axis": node.attrs["axis"], "index": k}, signals[0], outputs[k].shape)
        again = replace(node, outputs=outputs)
        made: Any = self.run.rules.table[node.op](again, Revisit(self.run, node), *signals)
        chosen: Signal = made[k] if isinstance(made, tuple) else made
        return chosen

    def _constant_part(self, node: Node, k: int, slot: int, cut: Cut) -> Signal | None:
        """An operand that is not followed: whole, or its own places if it has the axis (a table of positions)."""
        signal = self.run.signal(node, slot)
        axes = axes_followed(node, k, cut.axis)
        axis = None if axes is None else axes[slot]
        if signal is None or axis is None:
            return signal
        ref = node.inputs[slot]
        table = ref.array() if self.unlike.axis and isinstance(ref, Constant) else None
        if table is not None:
            return from_array(table[(slice(None),) * axis + (slice(cut.start, cut.stop),)])
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


def axes_followed(node: Node, k: int, axis: int) -> list[int | None] | None:
    """For every input the axis that `axis` of output k is made of place by place (None: taken whole); None if the op
    mixes places along it."""
    a, count = node.attrs, len(node.inputs)
    rank = len(node.outputs[k].shape)
    first = node.inputs[0]
    only_first = [None] * (count - 1)
    if first is None:
        return None
    if node.op in ("elementwise", "expand"):
        found: list[int | None] = []
        for ref in node.inputs:
            place = -1 if ref is None else axis - (rank - len(ref.shape))
            found.append(None if ref is None or place < 0 or ref.shape[place] == 1 else place)
        return found
    if node.op in ("identity", "dropout"):
        return [axis, *only_first]
    if node.op == "permute":
        return [a["perm"][axis]]
    if node.op == "softmax":
        return [axis] if a["axis"] != axis else None
    if node.op == "linear":
        return [axis, *only_first] if axis < rank - 1 and len(first.shape) == rank else None
    if node.op == "normalize":
        mixed = axis in a["axes"] or axis in a.get("channel_axes", ()) or (a.get("groups") and axis == 1)
        return None if mixed or a.get("use_running") else [axis, *only_first]
    if node.op == "concat":
        return [axis] * count if a["axis"] != axis else None
    if node.op == "attention":
        plain = axis == rank - 2 and not a.get("causal") and (count < 4 or node.inputs[3] is None)
        return [axis, *only_first] if plain else None
    if node.op == "matmul":
        return _matmul_axes(node, rank, axis)
    if node.op == "reshape":
        return _reshape_axis(first.shape, node.outputs[0].shape, axis)
    if node.op == "select":
        return [axis + (axis >= a["axis"])]
    if node.op == "unbind":
        return [axis + (axis >= a["axis"])]
    if node.op in ("slice", "split"):
        return [axis] if a["axis"] != axis or a.get("step", 1) == 1 else None
    return None


def _matmul_axes(node: Node, rank: int, axis: int) -> list[int | None] | None:
    left, right = node.inputs
    if left is None or right is None or len(left.shape) != rank or len(right.shape) != rank:
        return None
    if axis == rank - 2:
        return [axis, None]
    return [None, axis] if axis == rank - 1 and not node.attrs.get("weights") else None


def _reshape_axis(old: tuple[int, ...], new: tuple[int, ...], axis: int) -> list[int | None] | None:
    """The axis of the same size with as many entries before it."""
    before = prod(new[:axis])
    for k, n in enumerate(old):
        if n == new[axis] and n > 1 and prod(old[:k]) == before:
            return [k]
    return None


def _shift(node: Node, k: int, axis: int) -> int:
    """Where the places of an output along an axis begin in its input."""
    if node.op == "slice" and node.attrs["axis"] == axis:
        return int(node.attrs["start"])
    if node.op == "split" and node.attrs["axis"] == axis:
        return int(sum(node.attrs["sizes"][:k]))
    return 0


class Doubtful(Exception):
    """Moments do not tell what an op on the way makes of a part: samples of the whole will."""


class Revisit:
    """The context of an op that is worked out again: weights are as they were decided, nothing is noted."""

    def __init__(self, run: Run, node: Node) -> None:
        self.run, self.node, self.training = run, node, run.training

    def weight(self, node: Node, slot: int, second_moment: Any) -> Signal:
        return self.run.used_weights[id(self.node), slot]

    def centred(self, node: Node, x: Signal) -> Signal:
        return self.run.centred(self.node, x)

    def array(self, node: Node, slot: int) -> Any:
        return None if node.op == "elementwise" else self.run.array(self.node, slot)

    def kept(self, node: Node, slot: int) -> bool:
        return self.run.kept(self.node, slot)

    def varies(self, node: Node, slot: int) -> bool:
        return self.run.varies(self.node, slot)

    def relations(self, node: Node) -> Relations:
        """Parts of tensors have no values of their own to ask about."""
        return Relations(None, node)

    def related(self, node: Node, slot: int, other: int) -> bool:
        return self.run.related(self.node, slot, other)

    def doubt(self, why: str) -> None:
        raise Doubtful(why)

    def note(self, node: Node, kind: str, message: str) -> None:
        return None
