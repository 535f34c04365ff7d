"""LSTM, GRU and plain recurrent layers, stacked and bidirectional, with projections and initial states.

The weights follow one scheme (`core.solve.recurrent_parts`): input kernels Glorot uniform per gate, recurrent kernels
and projections orthogonal per gate, biases zero except 1 for the forget gate of an LSTM. Weights that are kept are
described by their measured scale and bias instead. The cell is then simulated (`core.solve.recurrent_cells`), once per
set of numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.graph.graph import Node
from ..core.graph.roles import GATES
from ..core.signal.signal import Signal
from ..core.signal.squashed import squashed
from ..core.solve.recurrent_cells import CellWeights, Layout, Measured, simulate
from ..core.solve.recurrent_parts import CellSlots, cells_of, forget_bias, input_std
from .registry import Context, rule
from .shape import permuted

MOST_REMEMBERED = 256
_known: dict[tuple[Any, ...], Measured] = {}


@rule("recurrent")
def recurrent(node: Node, ctx: Context, x: Signal, *rest: Signal | None) -> tuple[Signal, ...]:
    """Simulated: the sequence, the last states, and for an LSTM the last memories, as torch gives them."""
    a = node.attrs
    _let_context_decide(node, ctx)
    x, states, cells, layout = stack_of(node, ctx, x, *rest)
    measured = _remembered(x, states, cells, layout)
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
    """What is simulated: the input with the batch first, initial states (none if they are zero), cells, their order."""
    a = node.attrs
    x = x if a.get("batch_first") else permuted(x, (1, 0, 2))
    states = tuple(s for s in rest[: int(a.get("states", 0))] if s is not None)
    if len(states) < int(a.get("states", 0)) or not any(s.second > 0.0 for s in states):
        states = ()
    cells = tuple(_cell(node, ctx, slots) for slots in cells_of(node))
    directions = 2 if a.get("bidirectional") else 1
    return x, states, cells, Layout(int(a["layers"]), directions, float(a.get("dropout") or 0.0), x.shape[1])


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
    w_in, w_back = node.inputs[slots.input], node.inputs[slots.recurrent]
    assert w_in is not None and w_back is not None
    gates = GATES[kind]
    hidden, inputs, outputs = w_in.shape[0] // gates, w_in.shape[1], w_back.shape[1]
    stds: tuple[float, ...] = (input_std(inputs, hidden),) * gates
    recurrent_std: tuple[float, ...] | None = None
    kept = _kept(node, ctx, slots.input)
    if kept is not None:
        stds = tuple(_digits(part.std()) for part in np.split(kept, gates))
    kept = _kept(node, ctx, slots.recurrent)
    if kept is not None and not _orthogonal_parts(kept, gates):
        recurrent_std = tuple(_digits(part.std()) for part in np.split(kept, gates))
    biases = [((0.0, 0.0),) * gates] * 2
    for k, slot in enumerate(slots.biases):
        forget = 0.0 if k else forget_bias(node)
        biases[k] = _bias(_kept(node, ctx, slot), gates, forget)
    kept = None if slots.projection is None else _kept(node, ctx, slots.projection)
    projection = None if kept is None or _orthogonal_parts(kept, 1) else _digits(kept.std())
    order = a.get("gate_order", range(gates))
    return CellWeights(
        kind, inputs, hidden, outputs, _ordered(stds, order), _ordered(recurrent_std, order),
        _ordered(biases[0], order), _ordered(biases[1], order), projection, a.get("activation", "tanh"),
        a.get("gate", "sigmoid"), bool(a.get("reset_after", True)), float(a.get("recurrent_dropout", 0.0)),
    )  # fmt: skip


def _ordered(values: Any, order: Any) -> Any:
    """Per gate, in the order of `core.solve.recurrent_cells`."""
    return None if values is None else tuple(values[g] for g in order)


def _kept(node: Node, ctx: Context, slot: int) -> Any:
    """The values of a parameter that stays as it is; None if it is to be set."""
    if not ctx.kept(node, slot):
        return None
    values = ctx.array(node, slot)
    return None if values is None else np.asarray(values, float)


def _bias(values: Any, gates: int, forget: float) -> tuple[tuple[float, float], ...]:
    """(mean, standard deviation) per gate."""
    if values is None:
        return tuple((forget if g == 1 else 0.0, 0.0) for g in range(gates))
    return tuple((_digits(part.mean()), _digits(part.std())) for part in np.split(values, gates))


def _orthogonal_parts(values: Any, gates: int) -> bool:
    """Whether every gate's block has orthonormal rows or columns."""
    for part in np.split(values, gates):
        small = part if part.shape[0] <= part.shape[1] else part.T
        if not np.allclose(small @ small.T, np.eye(small.shape[0]), atol=1e-3):
            return False
    return True


def _digits(value: Any) -> float:
    return float(f"{float(value):.3e}")
