"""Recurrent layers by simulation of the real cell.

The moments of a gated recurrence have no closed form, but the cell is cheap: with seeded weights of the
scheme that is to be used (or of the scale that kept weights have), a width of at most `WIDTH`, and inputs
drawn from the incoming moments, a few runs give m and every K(S) of the outputs. Wide layers are replaced by
narrower ones with the same variance of every pre-activation: a kernel of std s over n inputs by one of std s
sqrt(n / n') over n', an orthogonal one by a smaller orthogonal one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..drawing.orthogonal import orthogonal
from ..gaussian.activations import FUNCTIONS
from ..signal.measured import from_array
from ..signal.samples import sample
from ..signal.signal import Signal

WIDTH, STEPS, BATCH, DRAWS = 128, 64, 40, 3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CellWeights:
    """Scales of one cell's weights, per gate in torch's order (lstm: i f g o; gru: r z n)."""

    kind: str
    inputs: int
    hidden: int
    outputs: int
    """Width of the state that recurs: `hidden`, or that of the projection."""
    input_std: tuple[float, ...]
    recurrent_std: tuple[float, ...] | None
    """None: orthogonal."""
    input_bias: tuple[tuple[float, float], ...]
    """(mean, standard deviation) per gate."""
    recurrent_bias: tuple[tuple[float, float], ...]
    projection_std: float | None = None
    """None: orthogonal, if there is a projection at all."""
    activation: str = "tanh"
    """Function of the candidate and of the memory, by its name in `activations`; "relu" cells have theirs."""
    gate: str = "sigmoid"
    reset_after: bool = True
    """GRU: whether the reset gate acts on the recurrent product (or on the state before it)."""
    shared_gate: bool = False
    """GRU: whether the reset gate is the update gate."""
    recurrent_dropout: float = 0.0
    """Rate at which entries of the state are dropped on their way back, the same ones at every step."""


@dataclass(frozen=True)
class Layout:
    """How many layers and directions, and the dropout between layers (one number less than layers)."""

    layers: int
    directions: int
    dropouts: tuple[float, ...]
    steps: int
    shown: int
    """Of how many of the last layers states and memories are wanted."""


def narrow(n: int) -> int:
    return min(n, WIDTH)


def _orthogonal(rows: int, columns: int, rng: np.random.Generator) -> Floats:
    """Rows or columns orthonormal, whichever fit."""
    long, short = max(rows, columns), min(rows, columns)
    made = orthogonal(rng.standard_normal((long, short)), [0], 1, long**-0.5)
    return made if rows >= columns else made.T


def _function(name: str) -> Callable[[Floats], Floats]:
    function = FUNCTIONS[name]
    return lambda x: np.asarray(function.fn(x, *function.defaults))


class Cell:
    """One drawn cell of reduced width."""

    def __init__(self, w: CellWeights, inputs: int, rng: np.random.Generator) -> None:
        self.kind, self.reset_after, self.shared = w.kind, w.reset_after, w.shared_gate
        self.dropout = w.recurrent_dropout
        self.act = _function("relu" if w.kind == "relu" else w.activation)
        self.gate = _function(w.gate)
        self.hidden = narrow(w.hidden)
        shrink = self.hidden / w.hidden
        self.outputs = self.hidden if w.outputs == w.hidden else max(round(w.outputs * shrink), 1)
        h, p = self.hidden, self.outputs
        fan = np.sqrt(w.inputs / inputs)
        back = np.sqrt(w.outputs / p)
        self.w_in = np.concatenate([s * fan * rng.standard_normal((h, inputs)) for s in w.input_std])
        if w.recurrent_std is None:
            self.w_back = np.concatenate([_orthogonal(h, p, rng) for _ in w.input_std])
        else:
            self.w_back = np.concatenate([s * back * rng.standard_normal((h, p)) for s in w.recurrent_std])
        self.b_in = np.concatenate([m + s * rng.standard_normal(h) for m, s in w.input_bias])
        self.b_back = np.concatenate([m + s * rng.standard_normal(h) for m, s in w.recurrent_bias])
        self.project: Floats | None = None
        if w.outputs != w.hidden:
            if w.projection_std is None:
                self.project = _orthogonal(p, h, rng)
            else:
                self.project = w.projection_std * np.sqrt(w.hidden / h) * rng.standard_normal((p, h))

    def run(
        self, x: Floats, state: Floats, memory: Floats, rng: np.random.Generator, tape: list[Step] | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """x (steps, batch, inputs) -> all states (steps, batch, outputs), the last state, the last memory.

        tape: what `recurrent_gradients` needs of every step is added to it.
        """
        driven = x @ self.w_in.T + self.b_in
        mask = 1.0 if self.dropout <= 0.0 else (rng.random(state.shape) >= self.dropout) / max(1.0 - self.dropout, 1e-9)
        all_states = []
        for t, at in enumerate(driven):
            before, memory_before, seen = state, memory, state * mask
            back = seen @ self.w_back.T + self.b_back
            reset = None
            if self.kind == "lstm":
                i, f, g, o = np.split(at + back, 4, axis=-1)
                memory = self.gate(f) * memory + self.gate(i) * self.act(g)
                state = self.gate(o) * self.act(memory)
                if self.project is not None:
                    state = state @ self.project.T
            elif self.kind == "gru":
                (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(at, 3, axis=-1), np.split(back, 3, axis=-1)
                z = self.gate(z_x + z_h)
                r = z if self.shared else self.gate(r_x + r_h)
                if not self.reset_after:
                    reset = r * seen
                    n_h = reset @ self.w_back[2 * self.hidden :].T + self.b_back[2 * self.hidden :]
                    back = np.concatenate([r_h, z_h, n_h], axis=-1)
                new = self.act(n_x + r * n_h if self.reset_after else n_x + n_h)
                state = (1.0 - z) * new + z * state
            else:
                state = self.act(at + back)
            all_states.append(state)
            if tape is not None:
                tape.append(Step(x[t], at, back, before, seen, mask, memory_before, memory, reset))
        return np.stack(all_states), state, memory


class Step(NamedTuple):
    """One step of a cell, as it went."""

    x: Floats
    at: Floats
    """The input's part of the gates before their functions."""
    back: Floats
    """The state's part."""
    before: Floats
    seen: Floats
    """The state before, as the recurrent kernel sees it: with dropout."""
    mask: Any
    memory_before: Floats
    memory: Floats
    reset: Floats | None
    """GRU: the state behind the reset gate, where that acts before the kernel."""


@dataclass(frozen=True)
class Measured:
    """Moments of the output (batch, time, feature) and of the states (layer x direction, batch, feature)."""

    output: tuple[float, Floats]
    profile: Floats
    states: tuple[float, Floats]
    memories: tuple[float, Floats]


def simulate(
    x: Signal, states: tuple[Signal, ...], cells: tuple[CellWeights, ...], layout: Layout, seed: int = 0
) -> Measured:
    """Run the stack of `cells` (by layers, forward then backward) on samples of x (batch, time, feature)."""
    rng = np.random.default_rng(seed)
    steps = min(layout.steps, STEPS)
    inputs = narrow(x.shape[2])
    outputs, lasts, memories, levels = [], [], [], []
    for _ in range(DRAWS):
        drawn = sample(x, rng, {0: BATCH, 1: steps, 2: inputs}).transpose(1, 0, 2)
        starts = [sample(s, rng, {1: BATCH, 2: narrow(s.shape[2])}) for s in states]
        out, last, memory = _stack(drawn, starts, cells, layout, rng)
        outputs.append(_extended(out.transpose(1, 0, 2), layout.steps))
        levels.append(np.square(out).mean(axis=(1, 2)))
        lasts.append(from_array(last))
        memories.append(from_array(memory))
    level = np.mean(levels, axis=0)
    if layout.steps > steps:
        level = np.concatenate([level, np.full(layout.steps - steps, level[-steps // 4 :].mean())])
    profile = level / level.mean() if level.mean() > 0.0 else np.ones_like(level)
    return Measured(_average(outputs), profile, _average(lasts), _average(memories))


def _average(signals: list[Signal]) -> tuple[float, Floats]:
    return float(np.mean([s.mean for s in signals])), np.mean([s.K for s in signals], axis=0)


def _extended(out: Floats, steps: int) -> Signal:
    """Moments of a longer sequence.

    Late steps go on, and most pairs are as far apart as the farthest seen.
    """
    seen, measured = out.shape[1], from_array(out)
    if steps <= seen:
        return measured
    tail, near, quarter = 1.0 - seen / steps, min(2.0 * seen / steps, 1.0), seen // 4
    late = from_array(out[:, -quarter:])
    cross = from_array(np.stack([out[:, :quarter], out[:, -quarter:]]))
    # Pairs of far steps: E[early late] = K over the first axis, at different steps.
    far = cross.K[1][:, 1]
    gain = late.K[:, 1].flat[0] / max(abs(float(measured.K[:, 1].flat[0])), 1e-300)
    same = (1.0 - tail) * measured.K[:, 0] + tail * late.K[:, 0]
    different = near * measured.K[:, 1] + (1.0 - near) * np.minimum(far, measured.K[:, 1]) * min(max(gain, 1.0), 4.0)
    mean = (1.0 - tail) * measured.mean + tail * late.mean
    return Signal(out.shape, mean, np.stack([same, different], axis=1))


def _stack(
    x: Floats, starts: list[Floats], cells: tuple[CellWeights, ...], layout: Layout, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    lasts, memories, current = [], [], x
    for layer in range(layout.layers):
        sides = []
        for direction in range(layout.directions):
            index = layer * layout.directions + direction
            cell = Cell(cells[index], current.shape[-1], rng)
            batch = current.shape[1]
            state, memory = np.zeros((batch, cell.outputs)), np.zeros((batch, cell.hidden))
            if starts:
                state = state + starts[0][index][:, : cell.outputs]
            if len(starts) > 1:
                memory = memory + starts[1][index][:, : cell.hidden]
            fed = current[::-1] if direction else current
            out, last, kept = cell.run(fed, state, memory, rng)
            sides.append(out[::-1] if direction else out)
            lasts.append(last)
            memories.append(kept)
        current = np.concatenate(sides, axis=-1)
        if layer < layout.layers - 1 and layout.dropouts[layer] > 0.0:
            keep = max(1.0 - layout.dropouts[layer], 1e-9)
            current = current * (rng.random(current.shape) < keep) / keep
    shown = layout.shown * layout.directions
    return current, np.stack(lasts[-shown:]), np.stack(memories[-shown:])
