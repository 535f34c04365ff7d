"""Gradients of recurrent layers: backpropagation through time in the cells that `recurrent_cells` simulates.

With pre-activations a of the gates and da = dL/da, a step gives the kernels da x' and da h', its input W'da, the state
before it U'da (and what the gates let through), so that for an LSTM with c = f c' + i g, h = o act(c)

    dc = dc_after + dh o act'(c),   do = dh act(c),   di = dc g,   df = dc c',   dg = dc i,   dc' = dc f,

and for a GRU with h = (1 - z) n + z h':   dz = dh (h' - n),   dn = dh (1 - z),   dh' = dh z + ...

A kernel's gradient is summed over the batch: with s = E[G^2] of one sample's part G and c = E[G G'] of two, N s +
N(N - 1) c. Cells are narrower than the real ones: an input gets H/H' as many terms W'da, of I/I' the variance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log2

import numpy as np

from ..signal.measured import from_array
from ..signal.samples import sample
from ..signal.signal import Signal
from .recurrent_cells import BATCH, DRAWS, STEPS, Cell, CellWeights, Floats, Layout, Step, narrow

_STEP = 1e-5


@dataclass
class CellGradients:
    """What every step, the last one first, gives the parameters of one cell: da and, of a kernel, what it was fed."""

    hidden: int
    steps: dict[str, list[tuple[Floats, Floats | None]]] = field(default_factory=dict)

    def gates(self, name: str) -> int:
        """How many gates a parameter is of."""
        return 1 if name == "projection" else self.steps[name][0][0].shape[-1] // self.hidden

    def add(self, name: str, da: Floats, fed: Floats | None = None) -> None:
        self.steps.setdefault(name, []).append((da, fed))

    def sums(self, name: str, count: int) -> Floats:
        """Over the last `count` steps, sample by sample: (batch, *shape)."""
        da = np.stack([one for one, _ in self.steps[name][:count]], axis=1)
        fed = [one for _, one in self.steps[name][:count] if one is not None]
        return np.asarray(da.transpose(0, 2, 1) @ np.stack(fed, axis=1) if fed else da.sum(axis=1))


def slope(f: Callable[[Floats], Floats], at: Floats) -> Floats:
    return np.asarray((f(at + _STEP) - f(at - _STEP)) / (2.0 * _STEP))


def through_time(
    cell: Cell, tape: list[Step], g: Floats, last: Floats, memory: Floats
) -> tuple[Floats, CellGradients]:
    """Gradients of the input (steps, batch, inputs) and of the parameters, for g at the states (steps, batch, outputs),
    `last` at the last of them and `memory` at the last memory."""
    found, dx = CellGradients(cell.hidden), []
    dh, dc = last, memory
    for t in range(len(tape) - 1, -1, -1):
        step, dh = tape[t], dh + g[t]
        if cell.project is not None:
            inner = cell.gate(np.split(step.at + step.back, 4, axis=-1)[3]) * cell.act(step.memory)
            found.add("projection", dh, inner)
            dh = dh @ cell.project
        da, da_back, dh, dc = _step_back(cell, step, dh, dc)
        found.add("input", da, step.x)
        if step.reset is None:
            found.add("recurrent", da_back, step.seen)
        else:
            found.add("recurrent", da_back[:, : 2 * cell.hidden], step.seen)
            found.add("recurrent behind reset", da_back[:, 2 * cell.hidden :], step.reset)
        found.add("input bias", da)
        found.add("recurrent bias", da_back)
        dx.append(da @ cell.w_in)
    return np.stack(dx[::-1]), found


def _step_back(cell: Cell, step: Step, dh: Floats, dc: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Gradients of the gates' input and state parts, of the state before and of the memory before."""
    act, gate, h = cell.act, cell.gate, cell.hidden
    if cell.kind == "lstm":
        i, f, g, o = np.split(step.at + step.back, 4, axis=-1)
        dc = dc + dh * gate(o) * slope(act, step.memory)
        of_i, of_f = dc * act(g) * slope(gate, i), dc * step.memory_before * slope(gate, f)
        of_g, of_o = dc * gate(i) * slope(act, g), dh * act(step.memory) * slope(gate, o)
        da = np.concatenate([of_i, of_f, of_g, of_o], axis=-1)
        return da, da, (da @ cell.w_back) * step.mask, dc * gate(f)
    if cell.kind == "gru":
        (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(step.at, 3, axis=-1), np.split(step.back, 3, axis=-1)
        r, z, inner = gate(r_x + r_h), gate(z_x + z_h), n_x + (gate(r_x + r_h) * n_h if cell.reset_after else n_h)
        dz = dh * (step.before - act(inner)) * slope(gate, z_x + z_h)
        dn = dh * (1.0 - z) * slope(act, inner)
        if cell.reset_after:
            dr = dn * n_h * slope(gate, r_x + r_h)
            da_back = np.concatenate([dr, dz, dn * r], axis=-1)
            seen = da_back @ cell.w_back
        else:
            behind = dn @ cell.w_back[2 * h :]
            dr = behind * step.seen * slope(gate, r_x + r_h)
            da_back = np.concatenate([dr, dz, dn], axis=-1)
            seen = da_back[:, : 2 * h] @ cell.w_back[: 2 * h] + behind * r
        return np.concatenate([dr, dz, dn], axis=-1), da_back, dh * z + seen * step.mask, dc
    da = dh * slope(act, step.at + step.back)
    return da, da, (da @ cell.w_back) * step.mask, dc


@dataclass(frozen=True)
class Found:
    """Second moments of the gradients: of the input, and of every parameter by (cell, name)."""

    x: Signal
    parameters: dict[tuple[int, str], tuple[float, ...]]
    """Gate by gate."""


def gradients_of_stack(
    x: Signal, states: tuple[Signal, ...], cells: tuple[CellWeights, ...], layout: Layout, gs: list[Signal | None],
    seed: int = 0,
) -> Found:  # fmt: skip
    """Simulated: x (batch, time, feature); gs at the sequence (batch first), the last states and the last memories."""
    rng = np.random.default_rng(seed)
    steps, batch = min(layout.steps, STEPS), x.shape[0]
    tables, levels, sums = [], [], dict[tuple[int, str], list[Floats]]()
    for _ in range(DRAWS):
        drawn = sample(x, rng, {0: BATCH, 1: steps, 2: narrow(x.shape[2])}).transpose(1, 0, 2)
        starts = [sample(s, rng, {1: BATCH, 2: narrow(s.shape[2])}) for s in states]
        dx, found = _one_draw(drawn, starts, cells, layout, gs, rng)
        tables.append(from_array(dx.transpose(1, 0, 2)).K)
        levels.append(np.square(dx).mean(axis=(1, 2)))
        for k, one in enumerate(found):
            for name in one.steps:
                gates = one.gates(name)
                second = _over_batch(one.sums(name, steps), batch, gates)
                if layout.steps > steps:
                    late = _over_batch(one.sums(name, steps // 2), batch, gates)
                    longer = layout.steps / steps
                    second = second * [_growth(whole, half, longer) for whole, half in zip(second, late, strict=True)]
                sums.setdefault((k, name), []).append(second)
    first = cells[0]
    factor = first.hidden / narrow(first.hidden) * narrow(x.shape[2]) / x.shape[2]
    level = np.mean(levels, axis=0)
    known = layout.steps == steps and steps > 1 and level.mean() > 0.0
    profiles = (None, level / level.mean() if known else None, None)
    law = Signal((batch, layout.steps, x.shape[2]), 0.0, np.mean(tables, axis=0) * factor, profiles=profiles)
    seconds = {key: tuple(float(one) for one in np.mean(values, axis=0)) for key, values in sums.items()}
    for (k, name), candidate in list(seconds.items()):
        if name == "recurrent behind reset":
            seconds[k, "recurrent"] += candidate
    return Found(law, seconds)


def _growth(all_steps: float, late: float, longer: float) -> float:
    """What a sum over more steps gains, by its power of their number: between independent steps and equal ones."""
    if late <= 0.0 or all_steps <= 0.0:
        return 1.0
    return float(longer ** min(max(log2(all_steps / late), 0.0), 2.0))


def _over_batch(parts: Floats, batch: int, gates: int) -> Floats:
    """N s + N(N - 1) c of each gate, from parts (sample, gate by gate, ...)."""
    n, blocks = len(parts), np.split(parts, gates, axis=1)
    own = np.array([np.square(block).mean() for block in blocks])
    whole = np.array([np.square(block.sum(axis=0)).mean() for block in blocks])
    return np.asarray(np.maximum(batch * own + batch * (batch - 1) * (whole - n * own) / (n * (n - 1)), 0.0))


def _one_draw(
    x: Floats, starts: list[Floats], cells: tuple[CellWeights, ...], layout: Layout, gs: list[Signal | None],
    rng: np.random.Generator,
) -> tuple[Floats, list[CellGradients]]:  # fmt: skip
    drawn: list[tuple[Cell, list[Step]]] = []
    masks: list[Floats | float] = []
    current, batch = x, x.shape[1]
    for layer in range(layout.layers):
        sides = []
        for direction in range(layout.directions):
            index = layer * layout.directions + direction
            cell, tape = Cell(cells[index], current.shape[-1], rng), list[Step]()
            state, memory = np.zeros((batch, cell.outputs)), np.zeros((batch, cell.hidden))
            state = state + starts[0][index][:, : cell.outputs] if starts else state
            memory = memory + starts[1][index][:, : cell.hidden] if len(starts) > 1 else memory
            out, _, _ = cell.run(current[::-1] if direction else current, state, memory, rng, tape)
            sides.append(out[::-1] if direction else out)
            drawn.append((cell, tape))
        current = np.concatenate(sides, axis=-1)
        keep = max(1.0 - layout.dropouts[layer], 1e-9) if layer < layout.layers - 1 else 1.0
        masks.append((rng.random(current.shape) < keep) / keep if keep < 1.0 else 1.0)
        current = current * masks[-1]
    g = _sampled(gs[0], current.shape, rng)
    lasts = [None if h is None else sample(h, rng, {1: batch, 2: narrow(h.shape[2])}) for h in (*gs, None, None)[1:3]]
    found: list[CellGradients] = []
    for layer in range(layout.layers - 1, -1, -1):
        g, back = g * masks[layer], []
        for direction in range(layout.directions - 1, -1, -1):
            index = layer * layout.directions + direction
            cell, tape = drawn[index]
            side = g[..., direction * cell.outputs : (direction + 1) * cell.outputs]
            ends = [np.zeros((batch, n)) if one is None else one[index][:, :n]
                    for one, n in zip(lasts, (cell.outputs, cell.hidden), strict=True)]  # fmt: skip
            dx, parts = through_time(cell, tape, side[::-1] if direction else side, *ends)
            back.append(dx[::-1] if direction else dx)
            found.insert(0, parts)
        g = np.sum(back, axis=0)
    return g, found


def _sampled(g: Signal | None, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Gradients of the sequence, time first; of a longer one, at its last steps."""
    steps, batch, width = shape
    if g is None:
        return np.zeros(shape)
    profile = g.profiles[1]
    if profile is not None and profile.size > steps:
        p = profile[-steps:]
        g = Signal(g.shape, 0.0, g.K * float(p.mean()), profiles=(None, None, None))
        scale = np.sqrt(np.maximum(p / max(float(p.mean()), 1e-300), 0.0))
        return sample(g, rng, {0: batch, 1: steps, 2: width}).transpose(1, 0, 2) * scale[:, None, None]
    return sample(g, rng, {0: batch, 1: steps, 2: width}).transpose(1, 0, 2)
