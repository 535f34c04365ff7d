"""Recurrent layers on top of each other: the lower one's states resemble each other over time as no signal tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ..graph.graph import Node, Reference, Value
from ..graph.specs import spec_of
from ..signal.signal import Signal


class Fed(NamedTuple):
    """The recurrent node whose states another one is given, the signals of its own operands, and what is between."""

    node: Node
    x: Signal
    states: tuple[Signal | None, ...]
    dropout: float


def fed_by(node: Node, makers: Mapping[int, Node], signal: Callable[[Node, int], Signal | None]) -> Fed | None:
    """None if anything but dropout and exchanged axes lies between a recurrent node and what it is given."""
    time, dropout = _time(node), 0.0
    ref: Reference = node.inputs[0]
    while isinstance(ref, Value) and ref.id in makers:
        maker = makers[ref.id]
        spec = spec_of(maker.op)
        if maker.op == node.op:
            x = signal(maker, 0)
            if ref.id != maker.outputs[0].id or time != _time(maker) or x is None:
                return None
            states = tuple(signal(maker, 1 + k) for k in range(int(maker.attrs.get("states", 0))))
            return Fed(maker, x, states, dropout)
        if spec.moves and "perm" in maker.attrs and maker.attrs["perm"][-1] == len(maker.attrs["perm"]) - 1:
            time = int(maker.attrs["perm"][time])
        elif spec.random and maker.attrs.get("kind") == "inverted" and not maker.attrs.get("shared"):
            dropout = 1.0 - (1.0 - dropout) * (1.0 - float(maker.attrs["rate"]))
        elif not spec.moves or spec.attributes or len(maker.inputs) != 1:
            return None
        ref = maker.inputs[0]
    return None


def _time(node: Node) -> int:
    return 1 if node.attrs.get("batch_first") else 0
