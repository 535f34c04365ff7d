"""Recurrent layers: gradients through time of the cell that the forward rule simulates (`recurrent_gradients`)."""

from __future__ import annotations

from statistics import fmean

from ...core.backward.law import Law
from ...core.backward.passing import Backward
from ...core.graph.graph import Node
from ...core.signal.signal import Signal, iid
from ...core.solve.recurrent_gradients import gradients_of_stack
from ...core.solve.recurrent_parts import cells_of
from ..recurrent import stack_of
from ..shape import permuted
from .registry import adjoint


@adjoint("recurrent")
def recurrent(node: Node, back: Backward, *laws: Law | None) -> None:
    a = node.attrs
    operands = [back.operand(node, slot) for slot in range(1 + int(a.get("states", 0)))]
    given = operands[0]
    assert given is not None
    x, states, cells, layout = stack_of(node, back.run, given, *operands[1:])
    first = bool(a.get("batch_first"))
    gs = [None if law is None else law.moments for law in laws]
    if gs[0] is not None and not first:
        gs[0] = permuted(gs[0], (1, 0, 2))
    found = gradients_of_stack(x, states, cells, layout, gs)
    law = found.x if first else permuted(found.x, (1, 0, 2))
    back.send(node.inputs[0], Signal(law.shape, 0.0, law.K, profiles=law.profiles))
    for k, slots in enumerate(cells_of(node)):
        projection = () if slots.projection is None else (slots.projection,)
        named = [("input", slots.input), ("recurrent", slots.recurrent), ("projection", projection)]
        for name, own in (*named, *zip(("input bias", "recurrent bias"), slots.biases, strict=False)):
            seconds = found.parameters.get((k, name), ())
            for gate, slot in enumerate(own if seconds else ()):
                ref = node.inputs[slot]
                if ref is not None:
                    second = seconds[gate] if len(own) == len(seconds) else fmean(seconds)
                    back.send(ref, iid(ref.shape, 0.0, second))
