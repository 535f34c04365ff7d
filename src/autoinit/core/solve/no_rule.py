"""What has no rule: simulate the real op on samples with the incoming moments, or pass the signal through."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.graph import Node
from ..signal.measured import from_array
from ..signal.samples import complex_sample, sample
from ..signal.signal import Signal, constant, iid

REPEATS = 3
LARGEST = 2**22
"""Ops on more entries than this are not simulated."""


def simulate(node: Node, signals: list[Signal | None], seed: int) -> tuple[Signal, ...] | None:
    """Moments of the outputs, measured on `REPEATS` seeded samples; None if the op cannot be run."""
    if node.run is None:
        return None
    size = sum(int(np.prod(s.shape)) for s in signals if s is not None)
    size += sum(int(np.prod(v.shape)) for v in node.outputs)
    if size > LARGEST:
        return None
    rng = np.random.default_rng(seed)
    collected: list[list[Signal]] = []
    for _ in range(REPEATS):
        try:
            outputs = node.run([_drawn(node, k, s, rng) for k, s in enumerate(signals)])
        except Exception:
            return None
        if outputs is None or len(outputs) != len(node.outputs):
            return None
        if any(not np.all(np.isfinite(np.asarray(o))) for o in outputs):
            return None
        collected.append([from_array(o) for o in outputs])
    made = []
    for k, value in enumerate(node.outputs):
        mean = float(np.mean([c[k].mean for c in collected]))
        made.append(Signal(value.shape, mean, np.mean([c[k].K for c in collected], axis=0)))
    return tuple(made)


def _drawn(node: Node, slot: int, signal: Signal | None, rng: np.random.Generator) -> NDArray[Any] | None:
    if signal is None:
        return None
    return complex_sample(signal, rng) if slot in node.attrs.get("complex", ()) else sample(signal, rng, None)


def passed_through(node: Node, signals: list[Signal | None]) -> tuple[Signal, ...]:
    """The last resort: the first signal of the right rank, mean and variance kept."""
    known = [s for s in signals if s is not None]
    made = []
    for value in node.outputs:
        match = next((s for s in known if s.shape == value.shape), None)
        if match is not None:
            made.append(match.materialised())
        elif known:
            made.append(iid(value.shape, known[0].mean, known[0].variance))
        else:
            made.append(constant(value.shape, 0.0))
    return tuple(made)
