"""Running the tape on real arrays: every step by its own primitive, so that tensors are those of the graph's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import jax
from jax import numpy as jnp

from .tape import Atom, Step, Tape

Observe = Callable[[Step, list[Any]], None]


def given_values(tape: Tape, leaves: Iterable[Any], inputs: Iterable[Any], key: Any) -> dict[int, Any]:
    """Real arrays for what a tape begins with."""
    given = {id(atom): _as_given(atom, value) for atom, value in zip(tape.leaves, leaves, strict=True)}
    given |= {id(atom): _as_given(atom, value) for atom, value in zip(tape.inputs, inputs, strict=True)}
    if tape.key is not None:
        given[id(tape.key)] = key
    return given


def _as_given(atom: Atom, value: Any) -> Any:
    if jnp.issubdtype(atom.dtype, jax.dtypes.prng_key):
        return value
    return jnp.asarray(value, atom.dtype)


def run(steps: Sequence[Step], given: Mapping[int, Any], wanted: Sequence[Atom], observe: Observe | None = None
        ) -> list[Any]:  # fmt: skip
    """The wanted arrays; each one is forgotten when nobody needs it any more. `given`: by the identity of atoms.

    `observe` may exchange what a step made, and what is given to those that come.
    """
    values: dict[int, Any] = {}
    waiting = Counter(id(atom) for step in steps for atom in step.inputs)
    waiting.update(id(atom) for atom in wanted)

    def value(atom: Atom) -> Any:
        found = values.get(id(atom))
        return given.get(id(atom), atom.value) if found is None else found

    for step in steps:
        made = step.run([value(atom) for atom in step.inputs])
        if observe is not None:
            observe(step, made)
        for out, array in zip(step.outputs, made, strict=True):
            if waiting[id(out)]:
                values[id(out)] = array
        for atom in step.inputs:
            waiting[id(atom)] -= 1
            if not waiting[id(atom)]:
                values.pop(id(atom), None)
    return [value(atom) for atom in wanted]
