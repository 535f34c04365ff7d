"""What an activation is in the graph, and what becomes of its output.

A module is an activation if its output is a function of its single input, entry by entry, and no straight line. Whether
it may be shifted is a question of what reads it: a gate, a part of another function, or the model's own output may not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of

LINES = {"identity", "neg", "affine", "add", "sub"}
"""Functions that keep a straight line one; so do "mul" and "div" by a constant."""
NAMED = {
    "relu", "relu6", "leaky_relu", "prelu", "rrelu", "elu", "selu", "celu", "gelu", "gelu_tanh", "quick_gelu", "silu",
    "mish", "hardswish", "sigmoid", "hardsigmoid", "log_sigmoid", "softplus", "squareplus", "threshold", "hardshrink",
    "softshrink", "tanh", "hardtanh", "softsign", "tanhshrink",
}  # fmt: skip
"""Functions that are activations wherever they stand."""
SHARES = ("sigmoid", "hardsigmoid")
"""Functions between 0 and 1: of two factors, such a one is the gate (as is a softmax)."""

GATE = "it gates another signal"
PART = "another function is taken of it"
OUTPUT = "it is an output of the model"
FIXED = "a layer reads it whose weight is not to be changed"


def is_activation(nodes: Sequence[Node], x: Reference, y: Reference) -> bool:
    """Whether `nodes` make y of x entry by entry, of nothing but x, parameters and constants, and not as a line."""
    if not isinstance(x, Value) or not isinstance(y, Value) or x.shape != y.shape:
        return False
    line: dict[int, bool] = {x.id: True}
    """Values that depend on x -> whether they are a straight line in it."""
    fixed: set[int] = set()
    for node in nodes:
        values = [ref.id for ref in node.inputs if isinstance(ref, Value)]
        of_x = [v for v in values if v in line]
        if any(v not in line and v not in fixed for v in values):
            return False
        if not of_x:
            if _is_drawn(node):
                return False
            fixed.update(v.id for v in node.outputs)
            continue
        if not spec_of(node.op).pointwise:
            return False
        line.update({v.id: all(line[u] for u in of_x) and _keeps_lines(node, len(of_x)) for v in node.outputs})
    return y.id in line and not line[y.id]


def _keeps_lines(node: Node, operands: int) -> bool:
    """Of a function by entries; `operands` of the node depend on x."""
    fn = node.attrs.get("fn")
    return spec_of(node.op).linear or fn in LINES or (fn in ("mul", "div") and operands == 1)


def _is_drawn(node: Node) -> bool:
    """Whether something comes out that is not made of operands alone."""
    spec = spec_of(node.op)
    return spec.random or spec.source


def _carries(node: Node) -> bool:
    """Whether a gate is still a gate behind the op."""
    spec = spec_of(node.op)
    return spec.moves or spec.joins or spec.resamples


class Readers:
    """Who reads which value."""

    def __init__(self, graph: Graph, stays: Callable[[str], bool] = lambda _: False) -> None:
        """`stays` says of a parameter, by its name, that it has to remain what it is."""
        self.stays = stays
        self.of: dict[int, list[Node]] = defaultdict(list)
        self.made_by: dict[int, Node] = {}
        self.outputs = {v.id for v in graph.outputs}
        self.constant: set[int] = set()
        """Values made of parameters and constants alone."""
        for node in graph.nodes:
            values = {ref.id for ref in node.inputs if isinstance(ref, Value)}
            for v in values:
                self.of[v].append(node)
            self.made_by.update((v.id, node) for v in node.outputs)
            if values <= self.constant and not _is_drawn(node):
                self.constant.update(v.id for v in node.outputs)

    def why_not(self, value: Value) -> str | None:
        """Why this output of an activation is not to be shifted; None if it may be."""
        open_values, seen = [(value, True, True)], {value.id}
        is_share = self._is_share(value)
        reasons: set[str] = set()
        while open_values:
            current, alone, whole = open_values.pop()
            if whole and current.id in self.outputs:
                reasons.add(OUTPUT)
            for node in self.of[current.id]:
                found, goes_on = self._read_by(node, current, alone, is_share)
                if found:
                    reasons.add(found)
                spec = spec_of(node.op)
                same = spec.pointwise or (spec.moves and not spec.random)
                for v in node.outputs if goes_on else ():
                    if v.id not in seen:
                        seen.add(v.id)
                        open_values.append((v, alone and spec.pointwise, whole and same))
        return next((reason for reason in (GATE, PART, OUTPUT, FIXED) if reason in reasons), None)

    def _is_share(self, value: Value) -> bool:
        """Whether a value lies between 0 and 1 by the function that made it, however it was moved since."""
        node = self.made_by.get(value.id)
        while node is not None:
            data = [ref for ref in node.inputs if isinstance(ref, Value) and ref.id not in self.constant]
            spec = spec_of(node.op)
            moved = _carries(node) or (spec.pointwise and _keeps_lines(node, len(data)))
            if not moved or len(data) != 1:
                return spec.shares or node.attrs.get("fn") in SHARES
            node = self.made_by.get(data[0].id)
        return False

    def _read_by(self, node: Node, value: Value, alone: bool, is_share: bool) -> tuple[str | None, bool]:
        """(the reason that this reader is, whether to follow its output).

        alone: nothing but functions by entries up to here; is_share: the activation's values lie between 0 and 1.
        """
        spec = spec_of(node.op)
        others = [ref for ref in node.inputs if isinstance(ref, Value) and ref != value and ref.id not in self.constant]
        twice = sum(ref == value for ref in node.inputs) > 1
        if spec.pairs:
            return (GATE if others or twice else None), False
        if any(node.inputs[slot] == value for slot in spec.mask):
            return GATE, False
        weights = [node.inputs[slot] for slot in spec.weights]
        if any(isinstance(w, ParameterView) and self.stays(w.name) for w in weights):
            return FIXED, False
        if not spec.pointwise or spec.mask:
            return None, _carries(node)
        fn = node.attrs.get("fn")
        if fn == "mul" and others and not is_share and all(self._is_share(ref) for ref in others):
            return None, False  # what is gated, by another one
        if fn in ("mul", "div") and others:
            return GATE, False
        if others:  # a sum of branches
            return None, False
        if _keeps_lines(node, 2 if twice else 1):
            return None, True
        return (PART if alone else None), False
