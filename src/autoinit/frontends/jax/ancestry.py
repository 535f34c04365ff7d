"""How values of the graph come about, by the tape: real primitives for `core.dependence.sampling_fallback`.

Starts are the model's inputs, what a contraction with weights makes, and what is drawn at random. Everything is worked
out when the first question comes: most plans never ask.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import numpy as jnp
from numpy.typing import NDArray

from ...core.graph.graph import Value
from ..base_ancestry import LARGEST, MOST_OPS, share, starting, union
from .tape import Atom, Of, Step, evaluated

if TYPE_CHECKING:
    from .tracer import Tracer

Draw = Callable[..., NDArray[Any] | None]
Starts = frozenset[int] | None


class TapeAncestry:
    """Values, and the arrays on the tape that they stand for."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer, self._tape = tracer, tracer.tape
        self._atom: dict[int, Atom] = {}
        self._value: dict[int, Value] = {}
        """By the identity of arrays."""
        self._starting: set[int] = set()
        self._starts: dict[int, Starts] = {}
        self._order: dict[int, int] = {}

    # --- questions ---------------------------------------------------------------------------------------------------

    def starts(self, value: Value) -> bool:
        atom = self._atom_of(value)
        return atom is None or self._is_start(atom)

    def related(self, one: Value, other: Value) -> bool:
        a, b = (self._atom_of(v) for v in (one, other))
        return a is not None and b is not None and share(self._from(a), self._from(b))

    def size(self, value: Value, known: dict[Any, Any]) -> float:
        steps, drawn = self._needed(self._atom[value.id], known)
        sizes = [prod(a.shape) for a in [*drawn, *(out for step in steps for out in step.outputs)]]
        return inf if len(sizes) > MOST_OPS or max(sizes, default=0) > LARGEST else sum(sizes)

    def evaluate(self, value: Value, draw: Draw, known: dict[Any, Any]) -> NDArray[Any] | None:
        atom = self._atom[value.id]
        steps, drawn = self._needed(atom, known)
        try:
            with jax.ensure_compile_time_eval():
                for start in drawn:
                    known[id(start)] = self._drawn(start, draw)
                for step in steps:
                    made = step.run([self._real(a, known) for a in step.inputs])
                    for out, array in zip(step.outputs, made, strict=True):
                        known.setdefault(id(out), array)
                whole = np.asarray(known[id(atom)])
                return np.asarray(whole, np.result_type(whole, np.float64)).reshape(value.shape)
        except Exception:  # whatever a primitive may find wrong with samples
            return None

    # --- answers -----------------------------------------------------------------------------------------------------

    def _atom_of(self, value: Value) -> Atom | None:
        if not self._order and self._tape.steps:
            self._look_back()
        return self._atom.get(value.id)

    def _look_back(self) -> None:
        """What weights and chance make, by the nodes; and what comes of it, by the tape."""
        for atom in self._tape.inputs:
            self._note(atom)
        for position, step in enumerate(self._tape.steps):
            self._order[id(step)] = position
            for atom in step.outputs:
                self._note(atom)
        self._starting = starting(self._tracer.graph.nodes, self._atom)
        for step in self._tape.steps:
            parts = [self._from(a) for a in step.inputs]
            self._starts.update((id(out), union(parts)) for out in step.outputs)

    def _note(self, atom: Atom) -> None:
        reference = self._tracer.known_reference(atom)
        if isinstance(reference, Value) and reference.shape == atom.shape:
            self._value[id(atom)] = reference
            self._atom.setdefault(reference.id, atom)

    def _is_start(self, atom: Atom) -> bool:
        """Whether an array is drawn: all arrays of one value are the same start."""
        value = self._value.get(id(atom))
        return value is not None and (value.id in self._starting or (atom.step is None and bool(atom.of & Of.SIGNAL)))

    def _from(self, atom: Atom) -> Starts:
        if self._is_start(atom):
            return frozenset((self._value[id(atom)].id,))
        return self._starts.get(id(atom), frozenset())

    def _needed(self, atom: Atom, known: dict[Any, Any]) -> tuple[list[Step], list[Atom]]:
        """The steps to run, in order, and the arrays to draw before (more than `MOST_OPS`: not all of them)."""
        steps: dict[int, Step] = {}
        drawn: dict[int, Atom] = {}
        waiting = [atom]
        while waiting and len(steps) <= MOST_OPS:
            one = waiting.pop()
            if id(one) in known or id(one) in drawn or one.is_given:
                continue
            if self._is_start(one):
                drawn[id(one)] = one
            elif one.step is not None and id(one.step) not in steps:
                steps[id(one.step)] = one.step
                waiting.extend(one.step.inputs)
        return sorted(steps.values(), key=lambda step: self._order[id(step)]), list(drawn.values())

    def _drawn(self, atom: Atom, draw: Draw) -> Any:
        array = draw(self._value[id(atom)], bool(jnp.issubdtype(atom.dtype, np.complexfloating)))
        if array is None:
            raise ValueError(f"no sample of an array of shape {atom.shape}")
        return jnp.asarray(array, atom.dtype)

    def _real(self, atom: Atom, known: dict[Any, Any]) -> Any:
        if id(atom) in known:
            return known[id(atom)]
        if atom is self._tape.key:
            return jax.random.key(0)
        value = self._tracer.leaves[atom.index].array() if atom.is_leaf else evaluated(atom)
        if value is None:
            raise ValueError("an array without values")
        return jnp.asarray(value, atom.dtype) if atom.is_leaf else value
