"""Tracing a program on abstract arrays, and making the neutral graph of it: no memory, nothing run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...core.graph.graph import Graph, Value
from ...core.options import Options
from ...core.signal.signal import Signal
from ...errors import AutoInitError, TraceError
from ..budget import Budget
from ..custom import CustomRules
from .flatten import Flattener
from .inputs import UNKNOWN_VOCABULARY, Given, given_inputs, with_arrays
from .own import marked
from .parameters import describe_parameters
from .program import Program
from .structure import recognise
from .tape import Atom, Of, Tape, abstract
from .tracer import Tracer


@dataclass(frozen=True, slots=True)
class Trace:
    """The graph of a program, the signals that go into it, and the tape that it can be run by."""

    program: Program
    graph: Graph
    signals: dict[int, Signal]
    tape: Tape
    given: list[Given]


def trace(program: Program, inputs: Any, options: Options, custom: CustomRules | None = None) -> Trace:
    """Follow a program once. `inputs`: as users give them, in the structure that the program takes."""
    given, structure, leaves = given_inputs(inputs)
    tape = tape_of(program, given, structure, leaves, Budget.start(options), custom)
    tracer = Tracer(tape, program.leaves)
    signals: dict[int, Signal] = {}
    for atom, item in zip(tape.inputs, given, strict=True):
        if item.is_signal:
            value = tracer.value(item.shape)
            tracer.set(atom, value)
            tracer.graph.inputs.append((value, item.item))
            signals[value.id] = item.signal()
    tracer.run()
    graph = tracer.graph
    for atom in tape.outputs:
        reference = tracer.reference(atom) if atom.is_float else None
        if isinstance(reference, Value):
            graph.outputs.append(reference)
    graph.parameters = describe_parameters(program.leaves)
    graph.notes += tape.notes
    graph.notes += [
        f"inputs[{k}]: nothing says how many values the integers have, {UNKNOWN_VOCABULARY} are taken"
        for k, item in enumerate(given) if item.is_guessed and not item.is_key and np.dtype(item.dtype) != np.bool_
    ]  # fmt: skip
    return Trace(program, graph, signals, tape, given)


def tape_of(
    program: Program, given: Sequence[Given], structure: Any, leaves: list[Any], budget: Budget,
    custom: CustomRules | None = None,
) -> Tape:  # fmt: skip
    """The tape of a program: its jaxpr on abstract arrays, flat, with its structure found."""

    def call(values: Any, arrays: Any, key: Any) -> Any:
        return program.call(values, with_arrays(structure, leaves, arrays), key)

    shapes = [abstract(leaf.shape, jax.numpy.dtype(leaf.dtype)) for leaf in program.leaves]
    key = jax.eval_shape(lambda: jax.random.key(0))
    try:
        with jax.disable_jit(False), marked(custom or CustomRules(), program.unbound):
            closed = jax.make_jaxpr(call)(shapes, [item.abstract for item in given], key)
    except AutoInitError:
        raise
    except Exception as error:
        raise TraceError(
            f"the model's call failed: {type(error).__name__}: {_first_lines(error)}", where=program.name,
            received=f"inputs {', '.join(f'{item.shape} {item.dtype}' for item in given)}",
            fix="check the shape (batch included) and dtype of inputs; does the model work on real arrays?",
        ) from error  # fmt: skip
    flat = Flattener(program.place, [leaf.module for leaf in program.leaves], budget)
    tape, rng = flat.tape, np.random.default_rng(0)
    tape.leaves = [_leaf_atom(program, k) for k in range(len(program.leaves))]
    tape.inputs = [_input_atom(item, k, rng) for k, item in enumerate(given)]
    tape.key = Atom((), key.dtype, Of.CHANCE)
    tape.outputs = flat.program(closed, [*tape.leaves, *tape.inputs, tape.key])
    tape.keep_needed()
    recognise(tape)
    tape.number_calls()
    return tape


def _leaf_atom(program: Program, index: int) -> Atom:
    """A parameter, or state with the values that it has."""
    leaf = program.leaves[index]
    dtype = jax.numpy.dtype(leaf.dtype)
    if leaf.parameter:
        return Atom(tuple(leaf.shape), dtype, Of.PARAMETERS, index=index)
    return Atom(tuple(leaf.shape), dtype, Of.CONSTANTS, index=index, value=leaf.values())


def _input_atom(item: Given, index: int, rng: np.random.Generator) -> Atom:
    if item.is_key:
        return Atom(item.shape, item.dtype, Of.CHANCE, index=index)
    if item.is_signal:
        return Atom(item.shape, item.dtype, Of.SIGNAL, index=index)
    return Atom(item.shape, item.dtype, Of.WORDS, index=index, value=item.sample(rng))


def _first_lines(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:197] + "..."
