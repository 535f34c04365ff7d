"""LSTM, GRU and plain recurrent layers, stacked and bidirectional, with projections and initial states.

The weights follow one scheme: input kernels Glorot uniform per gate (variance 2 / (inputs + hidden)),
recurrent kernels and projections orthogonal per gate, biases zero except 1 for the forget gate of an LSTM.
Weights that are kept are described by their measured scale and bias instead. The cell is then simulated (see
`core.solve.recurrent_cells`), once per set of numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.graph.graph import Node
from ..core.signal.signal import Signal
from ..core.solve.recurrent_cells import GATES, CellWeights, Layout, Measured, simulate
from .registry import Context, rule
from .shape import permuted

MOST_REMEMBERED = 256
_known: dict[tuple[Any, ...], Measured] = {}


@rule("recurrent")
def recurrent(node: Node, ctx: Context, x: Signal, *rest: Signal | None) -> tuple[Signal, ...]:
    """Outputs as torch gives them: the sequence, the last states, and for an LSTM the last memories."""
    a = node.attrs
    decide = getattr(ctx, "recurrent", None)
    if decide is not None:  # a context that sets weights writes the scheme of this module's text into the plan
        decide(node)
    directions = 2 if a.get("bidirectional") else 1
    x = x if a.get("batch_first") else permuted(x, (1, 0, 2))
    states = tuple(s for s in rest[: int(a.get("states", 0))] if s is not None)
    if len(states) < int(a.get("states", 0)) or not any(s.second > 0.0 for s in states):
        states = ()
    cells = tuple(_cells(node, ctx))
    layout = Layout(int(a["layers"]), directions, float(a.get("dropout") or 0.0), x.shape[1])
    measured = _remembered(x, states, cells, layout)
    ctx.note(node, "info", "moments measured on a simulated cell")
    mean, K = measured.output
    steps = x.shape[1]
    profiles = (None, measured.profile if steps > 1 else None, None)
    sequence = Signal((x.shape[0], steps, node.outputs[0].shape[2]), mean, K, profiles=profiles)
    if not a.get("batch_first"):
        sequence = permuted(sequence, (1, 0, 2))
    made = [sequence]
    for value, (mean, K) in zip(node.outputs[1:], (measured.states, measured.memories), strict=False):
        made.append(Signal(value.shape, mean, K))
    return tuple(made)


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


def _cells(node: Node, ctx: Context) -> Iterator[CellWeights]:
    a = node.attrs
    per_cell = 2 + 2 * bool(a.get("has_bias", True)) + bool(a.get("projected", False))
    first = 1 + int(a.get("states", 0))
    for k in range(int(a["layers"]) * (2 if a.get("bidirectional") else 1)):
        yield _cell(node, ctx, first + k * per_cell)


def _cell(node: Node, ctx: Context, slot: int) -> CellWeights:
    a = node.attrs
    kind, biased = a["kind"], bool(a.get("has_bias", True))
    gates = GATES[kind]
    w_in, w_back = node.inputs[slot], node.inputs[slot + 1]
    assert w_in is not None and w_back is not None
    hidden, inputs, outputs = w_in.shape[0] // gates, w_in.shape[1], w_back.shape[1]
    kept = _kept(node, ctx, slot)
    input_std = [np.sqrt(2.0 / (inputs + hidden))] * gates if kept is None else _spread(kept, gates)
    recurrent_std = _unless_orthogonal(_kept(node, ctx, slot + 1), gates)
    none = [(0.0, 0.0)] * gates
    input_bias = recurrent_bias = none
    if biased:
        forget = float(a.get("forget_bias", 1.0)) if kind == "lstm" else 0.0
        default = [(forget if g == 1 else 0.0, 0.0) for g in range(gates)]
        input_bias = _bias(_kept(node, ctx, slot + 2), gates, default)
        recurrent_bias = _bias(_kept(node, ctx, slot + 3), gates, none)
    projection = _unless_orthogonal(_kept(node, ctx, slot + 2 + 2 * biased), 1) if a.get("projected") else None
    order = a.get("gate_order", range(gates))  # per gate, in the order of `core.solve.recurrent_cells`
    return CellWeights(
        kind, inputs, hidden, outputs, tuple(float(input_std[g]) for g in order),
        None if recurrent_std is None else tuple(recurrent_std[g] for g in order),
        tuple(input_bias[g] for g in order), tuple(recurrent_bias[g] for g in order),
        None if projection is None else projection[0], a.get("activation", "tanh"), a.get("gate", "sigmoid"),
        bool(a.get("reset_after", True)), float(a.get("recurrent_dropout", 0.0)),
    )  # fmt: skip


def _kept(node: Node, ctx: Context, slot: int) -> Any:
    """The values of a parameter that stays as it is; None if it is to be set."""
    if not ctx.kept(node, slot):
        return None
    values = ctx.array(node, slot)
    return None if values is None else np.asarray(values, float)


def _spread(values: Any, gates: int) -> list[float]:
    return [_digits(part.std()) for part in np.split(values, gates)]


def _bias(values: Any, gates: int, default: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if values is None:
        return default
    return [(_digits(part.mean()), _digits(part.std())) for part in np.split(values, gates)]


def _unless_orthogonal(values: Any, gates: int) -> list[float] | None:
    """Standard deviations per gate; None for values that are to be set, or blocks with orthonormal rows or columns."""
    if values is None:
        return None
    blocks = [part if part.shape[0] <= part.shape[1] else part.T for part in np.split(values, gates)]
    if all(np.allclose(b @ b.T, np.eye(b.shape[0]), atol=1e-3) for b in blocks):
        return None
    return _spread(values, gates)


def _digits(value: Any) -> float:
    return float(f"{float(value):.3e}")
