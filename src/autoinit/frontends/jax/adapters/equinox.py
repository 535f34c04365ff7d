"""Equinox: modules are structures of arrays and of everything else; a plan makes a new one.

Layers take one example. A model that does not take the inputs as they are is mapped over their first axis, as its
users do (`jax.vmap`), with the name that batch norms give that axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax

from ...parameters_given import keeps_its_own
from ..abstract import Made
from ..calling import KEYS, arranged, completed, parameters_of
from ..held import Adapted, Held, held_array
from ..inputs import Given, given_inputs
from ..names import is_array, is_key, named_leaves
from ..program import Program


def understands(model: Any) -> bool:
    return isinstance(model, eqx.Module)


def adapted(model: Any, parameters: Any) -> Adapted:
    made = parameters if isinstance(parameters, Made) else None
    return EquinoxModule(model if made is not None else keeps_its_own(model, parameters), made)


@jax.tree_util.register_static
@dataclass(frozen=True)
class StateHere:
    """Stands in the inputs for the state that the user gave: it is no signal."""


class EquinoxModule(Adapted):
    """A module. Arrays of floating type are parameters; integers, functions and flags stay as they are."""

    def __init__(self, module: Any, made: Made | None = None) -> None:
        self.module, self.name = module, type(module).__name__
        named = named_leaves(module)
        self._leaves = [leaf for _, leaf in named]
        self._structure = jax.tree_util.tree_structure(module)
        self._places = [k for k, leaf in enumerate(self._leaves) if is_array(leaf) and not is_key(leaf)]
        indices = jax.tree_util.tree_leaves(module, is_leaf=_is_index)
        first = {id(leaf) for item in indices if _is_index(item) for leaf in jax.tree_util.tree_leaves(item)}
        self.arrays = [_held(*named[k], id(named[k][1]) in first) for k in self._places]
        self._keys = [k for k, leaf in enumerate(self._leaves) if is_array(leaf) and is_key(leaf)]
        self.others = [Held(named[k][0], named[k][1], False, False) for k in self._keys]
        self.comes_from(made)

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        inputs, state = _without_state(inputs)
        numbers, structure = jax.tree_util.tree_flatten(state)
        leaves = [*self.leaves(), *(Held(f"state.{k}", x, False, False).leaf() for k, x in enumerate(numbers))]
        accepted = parameters_of(self.module)
        count = len(self.arrays)

        def call(values: Any, inputs: Any, key: Any) -> Any:
            module = eqx.nn.inference_mode(self._with(values[:count]), not training)
            held = jax.tree_util.tree_unflatten(structure, list(values[count:]))
            args, kwargs = completed(arranged(inputs, accepted), accepted, training, key)
            return module(*_filled(args, held), **_filled(kwargs, held))

        def mapped(values: Any, inputs: Any, key: Any) -> Any:
            module = eqx.nn.inference_mode(self._with(values[:count]), not training)
            held = jax.tree_util.tree_unflatten(structure, list(values[count:]))
            args, kwargs = completed(arranged(inputs, accepted), accepted, training, None)
            return _mapped(module, args, kwargs, held, key if KEYS & {p.name for p in accepted} else None, accepted)

        program = Program(self.name, tuple(leaves), call)
        return (program if _runs(program, inputs) else _better(program, Program(self.name, tuple(leaves), mapped),
                                                               inputs)), inputs  # fmt: skip

    def _with(self, values: Any) -> Any:
        leaves = list(self._leaves)
        for k, value in zip(self._places, values, strict=True):
            leaves[k] = value
        return jax.tree_util.tree_unflatten(self._structure, leaves)

    def holding(self) -> Any:
        for k, held in zip(self._keys, self.others, strict=True):
            self._leaves[k] = held.array
        return self._with([held.array for held in self.arrays])


def _is_index(item: Any) -> bool:
    return isinstance(item, eqx.nn.StateIndex)


def _held(name: str, array: Any, is_state: bool) -> Held:
    held = held_array(name, array)
    if is_state:
        held.parameter = held.trainable = False
    return held


def _without_state(inputs: Any) -> tuple[Any, Any]:
    """Inputs with a mark in place of a state, and the state."""
    items = jax.tree_util.tree_leaves(inputs, is_leaf=_is_state)
    state = next((item for item in items if _is_state(item)), None)
    if state is None:
        return inputs, None
    return jax.tree_util.tree_map(lambda x: StateHere() if _is_state(x) else x, inputs, is_leaf=_is_state), state


def _is_state(item: Any) -> bool:
    return isinstance(item, eqx.nn.State)


def _filled(arguments: Any, state: Any) -> Any:
    return jax.tree_util.tree_map(
        lambda x: state if isinstance(x, StateHere) else x, arguments, is_leaf=lambda x: isinstance(x, StateHere)
    )


def _mapped(module: Any, args: list[Any], kwargs: dict[str, Any], state: Any, key: Any, accepted: list[Any]) -> Any:
    """Every example by itself: arrays along their first axis, a key for each, one state for all."""
    arrays = [x for x in jax.tree_util.tree_leaves((args, kwargs)) if is_array(x)]
    size = arrays[0].shape[0]
    keys = None if key is None else jax.random.split(key, size)
    name = next((p.name for p in accepted if p.name in KEYS), "key")

    def one(values: Any, key: Any) -> Any:
        given, named = values
        more = {} if key is None or name in named else {name: key}
        return module(*_filled(given, state), **_filled(named, state), **more)

    axes = jax.tree_util.tree_map(lambda x: 0 if is_array(x) else None, (args, kwargs))
    names = [m.axis_name for m in jax.tree_util.tree_leaves(module, is_leaf=_is_norm) if _is_norm(m)]
    out = 0 if state is None else (0, None)
    mapping: Callable[..., Any] = eqx.filter_vmap(
        one, in_axes=(axes, None if key is None else 0), out_axes=out,
        axis_name=next((n for n in names if n is not None), None),
    )  # fmt: skip
    return mapping((args, kwargs), keys)


def _is_norm(item: Any) -> bool:
    return isinstance(item, eqx.nn.BatchNorm)


def _runs(program: Program, inputs: Any) -> bool:
    return _failure(program, inputs) is None


def _better(program: Program, other: Program, inputs: Any) -> Program:
    """The other one if it runs; else the first, whose error is the user's."""
    return other if _runs(other, inputs) else program


def _failure(program: Program, inputs: Any) -> Exception | None:
    given, structure, leaves = given_inputs(inputs)
    key = jax.eval_shape(lambda: jax.random.key(0))
    shapes = [jax.ShapeDtypeStruct(leaf.shape, jax.numpy.dtype(leaf.dtype)) for leaf in program.leaves]

    def call(values: Any, arrays: Any, key: Any) -> Any:
        waiting = iter(arrays)
        filled = [next(waiting) if isinstance(leaf, Given) else leaf for leaf in leaves]
        return program.call(values, jax.tree_util.tree_unflatten(structure, filled), key)

    try:
        eqx.filter_eval_shape(call, shapes, [item.abstract for item in given], key)
    except Exception as error:
        return error
    return None
