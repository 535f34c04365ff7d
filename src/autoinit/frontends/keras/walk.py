"""Walk a Keras model once and return its graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
from keras import KerasTensor
from keras.src import backend

from ...core.graph.graph import Graph, Value
from ...core.signal.signal import Signal
from ...errors import AutoInitError, InputError, TraceError
from ..budget import Budget
from ..custom import CustomRules, patched_functions
from ..lock import WALKING
from .centring import Marking
from .inputs import UNKNOWN_VOCABULARY, Leaf, call_arguments, symbolic, with_sizes
from .patches import names_kept, tracing
from .recursion import deep_enough
from .state import looking, untouched
from .tape import flattened, mapped
from .tracer import Tracer
from .variables import describe_parameters, is_float, layers_of, parameters_of


@dataclass
class Walk:
    """The graph, the signals of its inputs, and the tracer with the tape."""

    graph: Graph
    signals: dict[int, Signal]
    tracer: Tracer
    leaves: list[Leaf]
    outputs: list[Any]

    def sample(self, position: int, rng: np.random.Generator) -> Any:
        """A real tensor for an input."""
        return self.leaves[position].sample(rng, self.tracer.vocabularies.get(position))


def walk(
    model: Any, inputs: Any, training: bool, custom: CustomRules, centring: bool = False,
    budget: Budget | None = None, looks: looking | None = None,
) -> Walk:  # fmt: skip
    """Follow `model` once. `looks`: the context that keeps it as it is; a model without weights keeps those it gets
    if there is none."""
    args, kwargs, notes = call_arguments(model, inputs)
    budget = Budget() if budget is None else budget
    with WALKING:
        build(model, args, kwargs)
        kept = untouched(model) if looks is None else looks.within()
        made = _walked(model, args, kwargs, training, custom, centring, budget, kept)
    made.graph.notes += notes
    for leaf in made.leaves:
        if leaf.is_guessed and leaf.position not in made.tracer.vocabularies:
            made.graph.notes.append(
                f"inputs[{leaf.position}]: nothing says how many values the integers have, "
                f"{UNKNOWN_VOCABULARY} are taken"
            )
    return made


def _walked(
    model: Any, args: list[Any], kwargs: dict[str, Any], training: bool, custom: CustomRules, centring: bool,
    budget: Budget, kept: untouched,
) -> Walk:  # fmt: skip
    made = _walk(model, args, kwargs, training, custom, centring, budget, kept)
    indices = [leaf for leaf in made.leaves if leaf.is_signal and leaf.position in made.tracer.vocabularies]
    if indices:  # floating inputs that are looked up in a table
        for leaf in indices:
            leaf.as_indices = True
        made = _walk(model, args, kwargs, training, custom, centring, budget, kept)
    return made


def build(model: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Give an unbuilt model its weights, as calling it on data would."""
    if all(layer.built for layer in layers_of(model)):
        return
    abstract_args, abstract_kwargs = symbolic((args, kwargs), batch=False)
    try:
        with WALKING:
            if isinstance(model, keras.Sequential):
                model.build(abstract_args[0].shape)
            else:
                backend.compute_output_spec(model.__call__, *abstract_args, **abstract_kwargs)
    except Exception as error:
        if model.built:  # layers that the model does not use
            return
        raise InputError(
            f"the model has no weights yet, and building it failed: {type(error).__name__}: {error}",
            where=type(model).__name__, received=_describe((args, kwargs)), fix="call the model once on real data",
        ) from error  # fmt: skip


def _walk(
    model: Any, args: list[Any], kwargs: dict[str, Any], training: bool, custom: CustomRules, centring: bool,
    budget: Budget, kept: untouched,
) -> Walk:  # fmt: skip
    parameters = parameters_of(model)
    tracer = Tracer(parameters, custom, training, budget)
    leaves = [leaf for leaf in flattened((args, kwargs)) if isinstance(leaf, Leaf)]
    signals: dict[int, Signal] = {}
    made = Walk(tracer.graph, signals, tracer, leaves, [])
    tracer.replay.sample_input = lambda position: made.sample(position, np.random.default_rng(position))

    def given(leaf: Any) -> Any:
        if not isinstance(leaf, Leaf):
            return leaf
        return introduce(tracer, leaf, signals)

    with names_kept():
        tensor_args, tensor_kwargs = mapped(given, args), mapped(given, kwargs)
        try:
            with (
                deep_enough(model),
                kept,
                tracing(tracer),
                patched_functions(custom, tracer, _function_node),
            ):
                if centring:
                    tracer.marking = Marking(tracer, model)
                    tracer.marking.replace_activations()
                out = model(*tensor_args, **tensor_kwargs, training=training)
        except AutoInitError:
            raise
        except Exception as error:
            raise TraceError(
                f"the model's call failed: {type(error).__name__}: {error}",
                where=f"layer '{tracer.module}'" if tracer.module else type(model).__name__,
                received=f"inputs {_describe((args, kwargs))}",
                fix="check the shape (batch included) and dtype of inputs; does model(inputs) work?",
            ) from error
    made.outputs = [t for t in keras.tree.flatten(out) if isinstance(t, KerasTensor)]
    for tensor in made.outputs:
        reference = tracer.reference(tensor)
        if isinstance(reference, Value) and is_float(tensor.dtype):
            tracer.graph.outputs.append(reference)
    tracer.graph.parameters = describe_parameters(parameters)
    return made


def introduce(tracer: Tracer, leaf: Leaf, signals: dict[int, Signal]) -> KerasTensor:
    """The symbolic tensor of an input, with its signal; integers become constants that hold a sample."""
    with_sizes(leaf)
    tensor = KerasTensor(leaf.shape, dtype=leaf.dtype)
    tracer.given(tensor, leaf.position)
    if leaf.is_signal:
        value = tracer.value(leaf.shape)
        tracer.set(tensor, value)
        tracer.graph.inputs.append((value, leaf.item))
        signals[value.id] = leaf.signal()
    else:
        tracer.set(tensor, tracer.sampled(tensor))
    return tensor


def _function_node(tracer: Tracer, rule: Any, function: Any, inputs: Any, output: Any, label: str) -> None:
    args, kwargs = inputs
    if tracer.idle:  # another thread's, or one that only finds out shapes
        return
    tracer.own_node(rule, function, None, args, kwargs, output, label)


def _describe(structure: Any) -> str:
    return ", ".join(f"{leaf.shape} {leaf.dtype}" for leaf in flattened(structure) if isinstance(leaf, Leaf))
