"""One way to write a program: values that hold the same entries in the same places are one value.

Every value is known as a view of a base (`layout`): what was unsqueezed and squeezed, permuted there and back, cut and
glued together, stacked and selected, copied, added to zero is found to be an earlier value, and whoever reads it reads
that one. The graph is changed in place; nodes stay, so that every call of the model has its row.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import prod
from typing import Any

from ..feeding import Feeding, Made
from ..graph import Constant, Graph, Node, Reference, Value
from ..roles import reduced_axes
from ..specs import spec_of
from .layout import Layout, Repeat, of_base
from .moves import MOVES, glued, place_of
from .pieces import Pieces, pieces_of, resolved

NEUTRAL = {"add": 0.0, "sub": 0.0, "mul": 1.0, "div": 1.0}
"""Functions of two operands, and the second that changes nothing."""
COMMUTE = ("add", "mul")
LARGEST_TABLE = 2**16
"""Larger tables are not looked at."""


def canonical(graph: Graph, feeding: Feeding) -> tuple[dict[int, Layout], bool]:
    """Rewrite the graph: the layouts of values that are views, and whether anything changed."""
    form = _Form(feeding, {id(node) for site in graph.sites for node in (site.node, *site.inner)})
    for node in graph.nodes:
        form.read(node)
    return form.layouts, form.changed


def key_of(node: Node) -> Hashable | None:
    """Equal for calls that give the same."""
    try:
        inputs = tuple(id(ref) if isinstance(ref, Constant) else ref for ref in node.inputs)
        key = (node.op, inputs, node.outputs[0].shape, _frozen(node.attrs))
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple((k, _frozen(v)) for k, v in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


class _Form:
    def __init__(self, feeding: Feeding, sites: set[int]) -> None:
        self.feeding, self.sites = feeding, sites
        """sites: nodes, by identity, of functions that a number is taken off which is not known yet."""
        self.calls: dict[Hashable, tuple[Value, ...]] = {}
        """What was worked out, and the values that it gave."""
        self.layouts: dict[int, Layout] = {}
        self.running: dict[int, tuple[Reference, int]] = {}
        """Running sums: their terms, and the axis."""
        self.first: dict[Layout, Value] = {}
        """The earliest value with a layout."""
        self.pieces: dict[int, Pieces] = {}
        self.changed = False

    def read(self, node: Node) -> None:
        if any(self.feeding.kind(ref) is Made.PARAMETERS for ref in node.inputs if isinstance(ref, Value)):
            self._note(node)
            return
        inputs = tuple(self._earliest(ref) for ref in node.inputs)
        if any(a is not b for a, b in zip(inputs, node.inputs, strict=True)):
            node.inputs, self.changed = inputs, True
        if spec_of(node.op).runs and node.attrs["kind"] == "sum":
            self.running[node.outputs[0].id] = node.inputs[0], node.attrs["axis"] % len(node.outputs[0].shape)
        if self._is_rest(node):
            node.op, self.changed = "cumulative", True
        if self._known(node):
            return
        made = self._moved(node)
        if made is None:
            return
        for value, layout in zip(node.outputs, made, strict=True):
            if layout.shape != value.shape:
                return
        for value, layout in zip(node.outputs, made, strict=True):
            self.layouts[value.id] = layout
            self.first.setdefault(layout, value)
        if len(made) == 1:
            same = self.first[made[0]]
            if same is not node.outputs[0] and node.op != "identity":
                node.op, node.inputs, node.attrs = "identity", (same,), {}
                self.changed = True

    def _note(self, node: Node) -> None:
        """Weights in the making have a home of their own: they are known as views, and left as they are."""
        x = node.inputs[0]
        if node.op in MOVES and isinstance(x, Value) and 0 not in x.shape:
            made = MOVES[node.op](node, self.layouts.get(x.id) or of_base(x.id, x.shape))
            self.layouts.update({value.id: one for value, one in zip(node.outputs, made or (), strict=False)})

    def _known(self, node: Node) -> bool:
        """Whether the same was worked out before; then it is that value."""
        if not spec_of(node.op).repeatable or id(node) in self.sites or len(node.outputs) != 1:
            return False
        key = key_of(node)
        before = self.calls.setdefault(key, node.outputs) if key is not None else node.outputs
        if before is node.outputs:
            return False
        self.layouts[node.outputs[0].id] = self._of(before[0])
        node.op, node.inputs, node.attrs, self.changed = "identity", before, {}, True
        return True

    def _is_rest(self, node: Node) -> bool:
        """c_n - c_t of a running sum c is the sum of what is still to come."""
        if node.attrs.get("fn") != "sub" or len(node.inputs) != 2:
            return False
        last, c = node.inputs
        if not isinstance(c, Value) or c.id not in self.running or not isinstance(last, Value):
            return False
        x, axis = self.running[c.id]
        whole, n = of_base(c.id, c.shape), c.shape[axis]
        end, seen = place_of(whole, axis, n - 1), self._of(last)
        wanted = {end.with_axis(axis, more) for more in ((), (Repeat(n),))}
        if n < 2 or seen not in wanted or self.layouts.get(c.id, whole) != whole:
            return False
        node.inputs, node.attrs = (x,), {"kind": "sum", "axis": axis, "remaining": True}
        return True

    def layout(self, ref: Reference) -> Layout | None:
        return self._of(ref) if isinstance(ref, Value) else None

    def _of(self, ref: Value) -> Layout:
        if ref.id not in self.layouts:
            made = of_base(ref.id, ref.shape)
            self.layouts[ref.id] = made
            self.first.setdefault(made, ref)
        return self.layouts[ref.id]

    def _earliest(self, ref: Reference) -> Reference:
        layout = self.layout(ref)
        return ref if layout is None else self.first[layout]

    def _moved(self, node: Node) -> list[Layout] | None:
        if node.op in MOVES:
            x = self.layout(node.inputs[0])
            if x is None or 0 in x.shape:
                return None
            made = MOVES[node.op](node, x)
            return None if made is None else [resolved(one, self.pieces) for one in made]
        spec = spec_of(node.op)
        if spec.joins:
            return self._put_together(node)
        if spec.reduces:
            return self._averaged(node)
        return self._unchanged(node) if spec.pointwise and id(node) not in self.sites else None

    def _put_together(self, node: Node) -> list[Layout] | None:
        pieces = pieces_of(node, lambda slot: self.layout(node.inputs[slot]))
        whole = [x for x in pieces.layouts if x is not None]
        if whole and len(whole) == len(pieces.layouts):
            made = whole[0] if len(whole) == 1 else glued(whole, pieces.axis)
            if made is not None:
                return [made]
        if pieces.sizes:
            self.pieces[node.outputs[0].id] = pieces
        return None

    def _averaged(self, node: Node) -> list[Layout] | None:
        """A mean over copies is one of them."""
        x = self.layout(node.inputs[0])
        if x is None or node.attrs["kind"] not in ("mean", "max", "min"):
            return None
        axes = reduced_axes(node)
        if not all(isinstance(part, Repeat) for a in axes for part in x.axes[a]):
            return None
        if node.attrs.get("keepdim"):
            return [x._replace(axes=tuple(() if a in axes else parts for a, parts in enumerate(x.axes)))]
        return [x._replace(axes=tuple(parts for a, parts in enumerate(x.axes) if a not in axes))]

    def _unchanged(self, node: Node) -> list[Layout] | None:
        """x + 0, x · 1: a number, or a table of the same number everywhere."""
        fn, scalars = node.attrs.get("fn"), node.attrs.get("scalars") or {}
        if fn not in NEUTRAL or len(node.inputs) != 2 or node.attrs.get("params"):
            return None
        for slot in (1, 0) if fn in COMMUTE else (1,):
            ref, x = node.inputs[slot], node.inputs[1 - slot]
            number = scalars.get(slot) if ref is None else self._everywhere(ref)
            if number == NEUTRAL[fn] and isinstance(x, Value) and x.shape == node.outputs[0].shape:
                return [self._of(x)]
        return None

    def _everywhere(self, ref: Reference) -> float | None:
        """The number that all entries of a table are."""
        array = ref.array() if isinstance(ref, Constant) and 0 < prod(ref.shape) <= LARGEST_TABLE else None
        if array is None or array.dtype.kind not in "biuf":
            return None
        first = array.flat[0]
        return float(first) if (array == first).all() else None
