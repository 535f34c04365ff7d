"""The tape: a program as one flat list of steps, which the graph is made of and which can be run on real arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from numpy.typing import NDArray

from ...core.graph.graph import Shape


class Of(IntFlag):
    """What an array depends on, besides constants."""

    CONSTANTS = 0
    WORDS = 1
    """Integer inputs, of which there is a sample."""
    CHANCE = 2
    PARAMETERS = 4
    SIGNAL = 8


@dataclass(slots=True, eq=False)
class Atom:
    """One array: a constant, a leaf of the model, an input, the key, or the output of a step."""

    shape: Shape
    dtype: Any
    of: Of = Of.CONSTANTS
    step: Step | None = None
    index: int = 0
    """Which output of its step, leaf of the model, or input it is."""
    value: Any = None
    """Of constants and samples, as far as it was worked out."""

    @property
    def is_float(self) -> bool:
        return bool(jnp.issubdtype(self.dtype, np.inexact))

    @property
    def is_leaf(self) -> bool:
        """Whether it is a parameter of the model as it stands."""
        return self.step is None and self.of is Of.PARAMETERS

    @property
    def is_signal(self) -> bool:
        """Whether it comes of a floating input, or of a table that words chose from."""
        return bool(self.of & Of.SIGNAL) or (Of.WORDS | Of.PARAMETERS) in self.of

    @property
    def is_given(self) -> bool:
        """Whether it has a value, or a sample of it, without any chance."""
        return not self.of & ~Of.WORDS


@dataclass(slots=True, eq=False)
class Whole:
    """What a step, with steps before it, amounts to in the neutral vocabulary."""

    op: str
    label: str
    operands: tuple[Atom | None, ...]
    attrs: dict[str, Any]


@dataclass(slots=True, eq=False)
class Step:
    """One call of a primitive."""

    primitive: Any
    params: dict[str, Any]
    inputs: tuple[Atom, ...]
    outputs: tuple[Atom, ...] = ()
    module: str = ""
    whole: Whole | None = None
    call: int = 0

    @property
    def name(self) -> str:
        return str(self.primitive.name)

    @property
    def label(self) -> str:
        """What it is called in tables: a kept function by its own name."""
        if self.whole is not None:
            return self.whole.label
        given = self.params.get("name") if "jaxpr" in self.params else None
        return str(given).lstrip("_") if given else self.name

    @property
    def operands(self) -> Sequence[Atom | None]:
        return self.inputs if self.whole is None else self.whole.operands

    @property
    def is_own(self) -> bool:
        """Whether it is a call with a rule of the user's own."""
        return self.whole is not None and self.whole.op == "custom"

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The primitive on real arrays."""
        return bound(self.primitive, self.params, arrays)


def bound(primitive: Any, params: dict[str, Any], arrays: Iterable[Any]) -> list[Any]:
    """What a primitive makes of arrays."""
    given = primitive.get_bind_params(params)
    functions, params = given if isinstance(given, tuple) else ((), given)  # before and since JAX 0.8
    made = primitive.bind(*functions, *arrays, **params)
    return list(made) if primitive.multiple_results else [made]


@dataclass
class Tape:
    """Steps in order, and what goes in and comes out."""

    steps: list[Step] = field(default_factory=list)
    leaves: list[Atom] = field(default_factory=list)
    inputs: list[Atom] = field(default_factory=list)
    key: Atom | None = None
    outputs: list[Atom] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def keep_needed(self) -> None:
        """Forget what no output needs."""
        self.steps = _leading_to(self.outputs, self.steps, lambda step: (*step.inputs, *step.operands))

    def number_calls(self) -> None:
        """Number the steps that make up the graph: those inside of a whole are none of them.

        Those inside of a call with a rule of the user's own are counted: the others have the numbers that they would
        have without the rule.
        """
        counts: Counter[tuple[str, str]] = Counter()
        graph = counted = _leading_to(self.outputs, self.steps, lambda step: step.operands)
        if any(step.is_own for step in graph):
            counted = _leading_to(self.outputs, self.steps, lambda s: s.inputs if s.is_own else s.operands)
        for step in counted:
            counts[step.module, step.label] += 1
            step.call = counts[step.module, step.label]
        if counted is not graph:
            followed = set(map(id, graph))
            for step in counted:
                step.call = step.call if id(step) in followed else 0


def _leading_to(
    outputs: Sequence[Atom], steps: Sequence[Step], needs: Callable[[Step], Sequence[Atom | None]]
) -> list[Step]:
    """The steps that outputs come of, in order."""
    wanted = {id(atom) for atom in outputs}
    kept: list[Step] = []
    for step in reversed(steps):
        if any(id(out) in wanted for out in step.outputs):
            kept.append(step)
            wanted.update(id(atom) for atom in needs(step) if atom is not None)
    return kept[::-1]


def abstract(shape: Sequence[int], dtype: Any) -> Any:
    """An array without values."""
    return jax.ShapeDtypeStruct(tuple(shape), dtype)


def constant(value: Any) -> Atom:
    return Atom(tuple(np.shape(value)), jnp.asarray(value).dtype if not hasattr(value, "dtype") else value.dtype,
                value=value)  # fmt: skip


def dependence(atoms: Iterable[Atom]) -> Of:
    found = Of.CONSTANTS
    for atom in atoms:
        found |= atom.of
    return found


def evaluated(atom: Atom) -> Any:
    """The value of a constant, or the sample of what depends on integer inputs; None if there is none.

    Steps before it are run as far as nobody did before: most constants are never asked for.
    """
    if atom.value is not None or not atom.is_given or atom.step is None:
        return atom.value
    waiting: list[Step] = []
    pending = [atom.step]
    while pending:  # depth first, without recursion: chains may be long
        step = pending.pop()
        waiting.append(step)
        pending.extend(a.step for a in step.inputs if a.value is None and a.step is not None)
    with jax.ensure_compile_time_eval():
        for step in reversed(waiting):
            if step.outputs[0].value is not None:
                continue
            arrays = [a.value for a in step.inputs]
            if any(a is None for a in arrays):
                return None
            for out, made in zip(step.outputs, step.run(arrays), strict=True):
                out.value = made
    return atom.value


def array_of(atom: Atom) -> NDArray[Any] | None:
    """The same as an array of NumPy; keys have none."""
    value = evaluated(atom)
    if value is None or jnp.issubdtype(atom.dtype, jax.dtypes.prng_key):
        return None
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array


LARGEST_UNIFORM = 2**16
"""Larger constants are not looked through for one number."""


def number_of(atom: Atom | None) -> float | None:
    """The number that a constant is everywhere."""
    if atom is None or atom.of is not Of.CONSTANTS or 0 in atom.shape:
        return None
    while atom.value is None and atom.step is not None and atom.step.name in ("broadcast_in_dim", "reshape"):
        atom = atom.step.inputs[0]
    if int(np.prod(atom.shape)) > LARGEST_UNIFORM:
        return None
    array = array_of(atom)
    if array is None or array.dtype.kind not in "biuf":
        return None
    first = array.flat[0]
    return float(first) if array.size == 1 or bool((array == first).all()) else None
