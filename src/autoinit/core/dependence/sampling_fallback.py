"""Where formulas end: the real ops, from the last weights on, run on samples.

A quotient whose divisor may be zero as far as its moments tell, or a divisor that contains its own dividend, has no
answer in means and correlations. The tensors in between are no mystery, though: they are functions of the outputs of
a few weight layers, which are Gaussian. So these are drawn, the real ops are run on them, and the moments of what
comes out are measured. What follows from there is worked out in the same way, up to the next weights: samples keep
every dependence, moments do not. The front end knows the ops (`core.graph.Ancestry`); a budget bounds the work.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..graph.canonical.form import key_of
from ..graph.graph import Node, Reference, Value
from ..graph.roles import feature_axis
from ..graph.specs import spec_of
from ..signal.measured import from_array
from ..signal.profiles import Profiles
from ..signal.samples import complex_sample, sample
from ..signal.signal import Signal
from .run import Run

REPEATS = 3
BUDGET = 2**26
"""Entries that may be sampled in one plan."""
UNEVEN, ENTRIES = 2.0, 64
"""A place with more than twice the mean power, measured on so many entries, counts as uneven."""
ENOUGH = 2**20
"""What needs more entries than this is sampled once."""


class Retrace:
    """The samples of one propagation, and which values follow from them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.samples: list[dict[Any, Any]] = [{} for _ in range(REPEATS)]
        self.drawn: list[dict[int, NDArray[Any]]] = [{} for _ in range(REPEATS)]
        self.calls: dict[Hashable, Value] = {}
        """Calls whose output was drawn."""
        self.left = BUDGET
        self.tainted: set[int] = set()
        """Values that come from samples without a weight in between."""

    def follows(self, node: Node) -> bool:
        """Whether an operand was sampled, or follows from what was."""
        return bool(self.tainted) and any(isinstance(ref, Value) and ref.id in self.tainted for ref in node.inputs)

    def related(self, one: Reference, other: Reference) -> bool:
        """Whether two operands are computed from the same weight layer's output (or the same input)."""
        ancestry = self.run.graph.ancestry
        return (
            ancestry is not None
            and isinstance(one, Value)
            and isinstance(other, Value)
            and ancestry.related(one, other)
        )

    def outputs(self, node: Node) -> tuple[Signal, ...] | None:
        """Measured signals of the outputs of a node; None where the real ops cannot be run, or cost too much."""
        ancestry = self.run.graph.ancestry
        if ancestry is None or self.run.rules.project is not None:
            return None
        if any(ancestry.starts(value) for value in node.outputs):
            return None
        self.tainted.update(value.id for value in node.outputs)
        collected: list[list[Signal]] = []
        spectra: list[Profiles | None] = []
        for repeat, samples in enumerate(self.samples):
            size = sum(ancestry.size(value, samples) for value in node.outputs)
            if not size <= (min(self.left, ENOUGH) if repeat else self.left):
                break
            self.left -= int(size)
            arrays = [ancestry.evaluate(v, lambda leaf, whole=False, k=repeat: self.draw(leaf, k, whole), samples)
                      for v in node.outputs]  # fmt: skip
            if not all(_fits(a, v) for a, v in zip(arrays, node.outputs, strict=True)):
                return None
            collected.append([from_array(a) for a in arrays if a is not None])
            spectra = spectra or [frequency_profiles(a) for a in arrays]
        if not collected:
            return None
        made = []
        for k, value in enumerate(node.outputs):
            mean = float(np.mean([c[k].mean for c in collected]))
            K = np.mean([c[k].K for c in collected], axis=0)
            made.append(Signal(value.shape, mean, K, profiles=spectra[k]))
        return tuple(made)

    def draw(self, leaf: Value, repeat: int, complex_value: bool = False) -> NDArray[Any] | None:
        """One sample of a value that the retrace starts from, the same for all that follows from it."""
        drawn = self.drawn[repeat]
        node = self.run.story.producer(leaf.id)
        key = None if node is None or spec_of(node.op).random else key_of(node)
        if key is not None and node is not None and len(node.outputs) == 1:  # the same call once more gives the same
            leaf = self.calls.setdefault(key, leaf)
        if leaf.id not in drawn:
            signal = self.run.signals.get(leaf.id)
            if signal is None:
                return None
            rng = np.random.default_rng((self.run.options.seed, leaf.id, repeat))
            columns = signal.columns
            if columns is not None:
                drawn[leaf.id] = columns.sample(rng)
            else:
                axis = None if node is None else feature_axis(node)
                made = complex_sample(signal, rng) if complex_value else sample(signal, rng, features=axis)
                drawn[leaf.id] = made
        return drawn[leaf.id]


def frequency_profiles(array: Any) -> Profiles | None:
    """How E|z|² of a complex array varies along its axes, if it does so by a lot: spectra have a few large places."""
    if not np.iscomplexobj(array) or array.ndim < 2:
        return None
    power = np.square(np.abs(array))
    found: list[NDArray[np.float64] | None] = []
    for axis, n in enumerate(array.shape):
        along = power.mean(axis=tuple(a for a in range(array.ndim) if a != axis))
        told = power.size // max(n, 1) >= ENTRIES and along.max() > UNEVEN * along.mean() > 0.0
        found.append(along / along.mean() if told else None)
    return tuple(found)


def _fits(array: Any, value: Value) -> bool:
    return array is not None and np.shape(array) == value.shape and bool(np.all(np.isfinite(array)))
