"""What flows into the place of a weight.

A contraction takes one operand as its weight: a parameter, or a tensor that was made of parameters by masks, gains,
products, views. Looking back from there tells which tensors are *weights in the making*; the interpreter carries
these with the parameters that they depend on (`weights_in_the_making`), so that the contraction can decide the scale.

The weight of a dense layer or convolution may depend on data as well: modulated convolutions, dynamic filters,
hypernetworks. There the way back goes on through contractions: the last one that makes the weight is part of it (also
in a product of two tensors, if one is plainly a matrix that a layer made: `core.graph.features`). What is merely the
parameter side of a product (matmul, einsum) is looked back through arithmetic on parameters only, as it may be the
output of a network that has no input (learned queries).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import prod

from .features import Features, by_matrix
from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of

SIDE, MATRIX, WEIGHT = 1, 2, 3
"""The parameter side of a product that goes by heads or samples; of one by a matrix; the weight of a layer."""


class Made(IntEnum):
    """What a tensor is made of."""

    CONSTANTS = 0
    PARAMETERS = 1
    BOTH = 2
    """Parameters and data, by arithmetic."""
    DATA = 3


class Feeding:
    """Which values are weights in the making."""

    def __init__(self, graph: Graph) -> None:
        self.made: dict[int, Made] = {}
        self.strength: dict[int, int] = {}
        """How surely a value is a weight: 1, 2 or 3 (below)."""
        self.noise: set[int] = set()
        """Values that are noise around zero: what multiplies them is the size of the noise."""
        self._features = Features(graph)
        for node in graph.nodes:
            made = self._of_node(node)
            self.made.update((value.id, made) for value in node.outputs)
            if not node.inputs and spec_of(node.op).random and node.attrs["mean"] == 0.0:
                self.noise.update(value.id for value in node.outputs)
        for node in reversed(graph.nodes):
            self._look_back(node)

    def feeds(self, node: Node) -> int:
        """How surely an output of the node is a weight in the making; 0 if it is none."""
        return max((self.strength.get(value.id, 0) for value in node.outputs), default=0)

    def kind(self, ref: Reference) -> Made:
        if isinstance(ref, ParameterView):
            return Made.PARAMETERS
        return self.made.get(ref.id, Made.DATA) if isinstance(ref, Value) else Made.CONSTANTS

    def _of_node(self, node: Node) -> Made:
        spec, kinds = spec_of(node.op), {self.kind(ref) for ref in node.inputs}
        if spec.source:
            return Made.DATA
        if Made.DATA in kinds or Made.BOTH in kinds:
            mixes = spec.arithmetic and bool(kinds & {Made.PARAMETERS, Made.BOTH})
            return Made.BOTH if mixes else Made.DATA
        return Made.PARAMETERS if Made.PARAMETERS in kinds else Made.CONSTANTS

    def _look_back(self, node: Node) -> None:
        spec = spec_of(node.op)
        for slot in spec.weights:
            self._mark(node.inputs[slot], SIDE if spec.labelled else WEIGHT)
        strength = self.feeds(node)
        if spec.factors:
            own = [ref for ref in node.inputs if self.kind(ref) is Made.PARAMETERS]
            if strength >= self.needed(node):
                for ref in own:
                    self._mark(ref, strength)
            elif own:
                self._mark(own[-1], MATRIX if by_matrix(node) else SIDE)
            elif len(node.inputs) == 2:
                made = self._features.generated(node)
                if made is not None:
                    self._mark(node.inputs[made], WEIGHT)
        elif spec.layer and strength == WEIGHT:
            if self.kind(node.inputs[0]) is Made.PARAMETERS:
                self._mark(node.inputs[0], WEIGHT)
        elif spec.arithmetic and strength:
            for ref in self._carriers(node, strength):
                self._mark(ref, strength)

    def needed(self, node: Node) -> int:
        """How surely the output of a product has to be a weight for its factors to be parts of that."""
        own = sum(self.kind(ref) is Made.PARAMETERS for ref in node.inputs)
        return WEIGHT if self._has_data(node) else MATRIX if own < len(node.inputs) else SIDE

    def _has_data(self, node: Node) -> bool:
        return any(self.kind(ref) in (Made.DATA, Made.BOTH) for ref in node.inputs)

    def _carriers(self, node: Node, strength: int) -> Sequence[Reference]:
        """The operands through which a weight came here."""
        spec = spec_of(node.op)
        own = [ref for ref in node.inputs if self.kind(ref) in (Made.PARAMETERS, Made.BOTH)]
        if not self._has_data(node):
            return own
        if strength < WEIGHT or spec.parameters_only:
            return []
        if node.attrs.get("fn") in ("add", "sub"):
            return node.inputs
        if own:
            return own
        size = prod(node.outputs[0].shape)
        if spec.pointwise or spec.mask:
            return [ref for ref in node.inputs if isinstance(ref, Value) and prod(ref.shape) == size][:1]
        return node.inputs

    def _mark(self, ref: Reference, strength: int) -> None:
        if isinstance(ref, Value):
            self.strength[ref.id] = max(strength, self.strength.get(ref.id, 0))
