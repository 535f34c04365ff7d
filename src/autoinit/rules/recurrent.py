"""LSTM, GRU and plain recurrent layers, stacked and bidirectional, with projections and initial states.

The weights follow one scheme (`core.solve.recurrent_parts`): input kernels Glorot uniform per gate, recurrent kernels
and projections orthogonal per gate, biases zero except 1 for the forget gate of an LSTM. Weights that are kept are
described by their measured scale and bias instead. The cell is then simulated (`core.solve.recurrent_cells`), once per
set of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np

from ..core.graph.graph import Node
from ..core.graph.roles import GATES
from ..core.signal.signal import Signal
from ..core.signal.squashed import squashed
from ..core.solve.recurrent_cells import CellWeights, Layout, Measured, simulate
from ..core.solve.recurrent_chains import Fed
from ..core.solve.recurrent_parts import CellSlots, cells_of, forget_bias, input_std
from .registry import Context, rule
from .shape import permuted

MOST_REMEMBERED = 256
MOST_BELOW = 4
"""Nodes that are simulated once more with the one above them."""
_known: dict[tuple[Any, ...], Measured] = {}


@rule("recurrent")
def recurrent(node: Node, ctx: Context, x: Signal, *rest: Signal | None) -> tuple[Signal, ...]:
    """Simulated: the sequence, the last states, and for an LSTM the last memories, as torch gives them."""
    a = node.attrs
    _let_context_decide(node, ctx)
    x, states, cells, layout = stack_of(node, ctx, x, *rest)
    given, dropouts = x, layout.dropouts
    for fed in () if states else _below(node, ctx):
        given = _batch_first(fed.node, fed.x)
        cells = (*(_cell(fed.node, ctx, slots) for slots in cells_of(fed.node)), *cells)
        dropouts = (*_dropouts(fed.node), fed.dropout, *dropouts)
    layout = replace(layout, layers=len(dropouts) + 1, dropouts=dropouts)
    measured = _remembered(given, states, cells, layout)
    ctx.note(node, "info", "moments measured on a simulated cell")
    mean, K = measured.output
    steps = x.shape[1]
    profiles = (None, measured.profile if steps > 1 else None, None)
    inside = a.get("activation", "tanh") == "tanh" and a["kind"] in ("tanh", "gru") and not a.get("projected")
    make = squashed if inside else Signal
    sequence = make((x.shape[0], steps, node.outputs[0].shape[2]), mean, K, profiles=profiles)
    if not a.get("batch_first"):
        sequence = permuted(sequence, (1, 0, 2))
    made = [sequence]
    for value, (mean, K) in zip(node.outputs[1:], (measured.states, measured.memories), strict=False):
        made.append(Signal(value.shape, mean, K))
    return tuple(made)


def stack_of(
    node: Node, ctx: Context, x: Signal, *rest: Signal | None
) -> tuple[Signal, tuple[Signal, ...], tuple[CellWeights, ...], Layout]:
    """What a node simulates: the input with the batch first, initial states (none if they are zero), cells, layout."""
    a, x = node.attrs, _batch_first(node, x)
    states = tuple(s for s in rest[: int(a.get("states", 0))] if s is not None)
    if len(states) < int(a.get("states", 0)) or not any(s.second > 0.0 for s in states):
        states = ()
    cells = tuple(_cell(node, ctx, slots) for slots in cells_of(node))
    directions, layers = 2 if a.get("bidirectional") else 1, int(a["layers"])
    return x, states, cells, Layout(layers, directions, _dropouts(node), x.shape[1], layers)


def _below(node: Node, ctx: Context) -> list[Fed]:
    """The recurrent layers right below, from the nearest on: simulated together, from zero states on."""
    ask, found = getattr(ctx, "fed_by", None), list[Fed]()
    while ask is not None and len(found) < MOST_BELOW:
        fed = ask(found[-1].node if found else node)
        if fed is None or bool(fed.node.attrs.get("bidirectional")) != bool(node.attrs.get("bidirectional")):
            break
        if any(s is not None and s.second > 0.0 for s in fed.states):
            break
        found.append(fed)
    return found


def _dropouts(node: Node) -> tuple[float, ...]:
    """Between the layers of one node."""
    return (float(node.attrs.get("dropout") or 0.0),) * (int(node.attrs["layers"]) - 1)


def _batch_first(node: Node, x: Signal) -> Signal:
    return x if node.attrs.get("batch_first") else permuted(x, (1, 0, 2))


def _let_context_decide(node: Node, ctx: Context) -> None:
    """The scheme of this module's text, written into the plan by the context if it offers to."""
    decide = getattr(ctx, "recurrent", None)
    if decide is not None:
        decide(node)


def _remembered(x: Signal, states: tuple[Signal, ...], cells: tuple[CellWeights, ...], layout: Layout) -> Measured:
    key = (cells, layout, x.shape[2], _numbers(x), tuple((s.shape, _numbers(s)) for s in states))
    if key not in _known:
        if len(_known) >= MOST_REMEMBERED:
            _known.clear()
        _known[key] = simulate(x, states, cells, layout)
    return _known[key]


def _numbers(signal: Signal) -> tuple[Any, ...]:
    """Everything that decides a sample, to four digits."""
    source = signal.source
    values = [source.mean, *source.K.ravel().tolist()]
    return signal.expr.key, tuple(f"{v:.3e}" for v in values)


def _cell(node: Node, ctx: Context, slots: CellSlots) -> CellWeights:
    a, kind = node.attrs, node.attrs["kind"]
    w_in, w_back = node.inputs[slots.input[0]], node.inputs[slots.recurrent[0]]
    assert w_in is not None and w_back is not None
    gates = GATES[kind]
    hidden, inputs, outputs = w_in.shape[0] * len(slots.input) // gates, w_in.shape[1], w_back.shape[1]
    kept = _kept(node, ctx, slots.input, gates)
    stds = tuple(input_std(inputs, hidden) if part is None else _digits(part.std()) for part in kept)
    recurrent_std: tuple[float, ...] | None = None
    kept = _kept(node, ctx, slots.recurrent, gates)
    if not all(part is None or _orthogonal(part) for part in kept):
        drawn = 1.0 / sqrt(max(hidden, outputs))
        recurrent_std = tuple(drawn if part is None else _digits(part.std()) for part in kept)
    added = tuple(a.get("added") or (0.0,) * gates)
    biases = [_bias([None] * gates, 0.0, added), _bias([None] * gates, 0.0, (0.0,) * gates)]
    for k, slot in enumerate(slots.biases):
        forget = 0.0 if k or node.inputs[slot[min(1, len(slot) - 1)]] is None else forget_bias(node)
        biases[k] = _bias(_kept(node, ctx, slot, gates), forget, (0.0,) * gates if k else added)
    if a.get("z_writes"):  # sigmoid(-y) = 1 - sigmoid(y), and only the bias of y has a sign
        biases = [(r, (-z[0], z[1]), n) for r, z, n in biases]
    projection: float | None = None
    if slots.projection is not None:
        (part,) = _kept(node, ctx, (slots.projection,), 1)
        projection = None if part is None or _orthogonal(part) else _digits(part.std())
    order = a.get("gate_order", range(gates))
    return CellWeights(
        kind, inputs, hidden, outputs, _ordered(stds, order), _ordered(recurrent_std, order),
        _ordered(biases[0], order), _ordered(biases[1], order), projection, a.get("activation", "tanh"),
        a.get("gate", "sigmoid"), bool(a.get("reset_after", True)), bool(a.get("shared_gate", False)),
        float(a.get("recurrent_dropout", 0.0)),
    )  # fmt: skip


def _ordered(values: Any, order: Any) -> Any:
    """Per gate, in the order of `core.solve.recurrent_cells`."""
    return None if values is None else tuple(values[g] for g in order)


def _kept(node: Node, ctx: Context, slots: tuple[int, ...], gates: int) -> list[Any]:
    """Per gate, the values of what stays as it is; None where it is to be set, or where there is nothing."""
    made: list[Any] = []
    for slot in slots:
        ref = node.inputs[slot]
        values = ctx.array(node, slot) if ref is not None and ctx.kept(node, slot) else None
        parts = gates // len(slots)
        made += [None] * parts if values is None else np.split(np.asarray(values, float), parts)
    return made


def _bias(parts: list[Any], forget: float, added: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """(mean, standard deviation) per gate."""
    made = []
    for g, (part, more) in enumerate(zip(parts, added, strict=True)):
        mean, std = (forget if g == 1 else 0.0, 0.0) if part is None else (part.mean(), part.std())
        made.append((_digits(mean + more), _digits(std)))
    return tuple(made)


def _orthogonal(part: Any) -> bool:
    """Whether a gate's block has orthonormal rows or columns."""
    small = part if part.shape[0] <= part.shape[1] else part.T
    return bool(np.allclose(small @ small.T, np.eye(small.shape[0]), atol=1e-3))


def _digits(value: Any) -> float:
    return float(f"{float(value):.3e}")
