"""Flax NNX: modules that hold their arrays in variables. They are read in place, and written in place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
from flax import nnx
from flax.nnx import graphlib
from jax import numpy as jnp

from ...parameters_given import keeps_its_own
from ..abstract import Made
from ..calling import arranged, completed, parameters_of
from ..held import Adapted, Array, Held
from ..names import ALONE, is_array, is_key, is_number
from ..program import Program

STATE = (nnx.BatchStat, nnx.Cache, nnx.Intermediate, nnx.Perturbation)
"""Kinds of variables that are no parameters. Any other kind that is no `Param` is a parameter that is not trained."""


def understands(model: Any) -> bool:
    return isinstance(model, nnx.Module)


def adapted(model: Any, parameters: Any) -> Adapted:
    made = parameters if isinstance(parameters, Made) else None
    return NnxModule(model if made is not None else keeps_its_own(model, parameters), made)


class NnxModule(Adapted):
    """A module and its variables, each under the first of its paths."""

    def __init__(self, module: Any, made: Made | None = None) -> None:
        self.module, self.name = module, type(module).__name__
        self._variables: dict[str, Any] = {}
        paths: dict[int, list[str]] = {}
        for path, variable in _variables(module):
            name = ".".join(map(str, path)) or ALONE
            if id(variable) not in paths:
                self._variables[name] = variable
            paths.setdefault(id(variable), []).append(name)
        self.arrays = [
            _held(name, variable, tuple(paths[id(variable)][1:]))
            for name, variable in self._variables.items()
            if is_array(_raw(variable)) and not _is_chance(variable)
        ]
        self.others = [
            Held(name, _raw(variable), False, False) for name, variable in self._variables.items()
            if is_array(_raw(variable)) and _is_chance(variable)
        ]  # fmt: skip
        self.comes_from(made, lambda name: f"{name}.value")

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        definition, state = nnx.split(self.module)
        leaves, structure = jax.tree_util.tree_flatten(state)
        places = {tuple(p): k for k, (p, _) in enumerate(_paths(state))}
        numbers = [places[self._place(held)] for held in self.arrays]
        accepted = parameters_of(self.module)

        def call(values: Any, inputs: Any, key: Any) -> Any:
            filled = [_chance(leaf, key, k) for k, leaf in enumerate(leaves)]
            for k, value in zip(numbers, values, strict=True):
                filled[k] = value
            module = nnx.merge(definition, jax.tree_util.tree_unflatten(structure, filled))
            module.train() if training else module.eval()
            args, kwargs = completed(arranged(inputs, accepted), accepted, training, key)
            if any(p.name == "rngs" for p in accepted) and "rngs" not in kwargs and len(args) < _index(accepted):
                kwargs["rngs"] = nnx.Rngs(key)
            return module(*args, **kwargs)

        return Program(self.name, self.leaves(), call), inputs

    def _place(self, held: Held) -> tuple[str, ...]:
        return tuple(held.name.split(".")) if held.name != ALONE else ()

    def put(self, held: Held, array: Array) -> None:
        variable = self._variables[held.name]
        if variable.ref:
            variable.get_raw_value()[...] = array
        else:
            variable.set_raw_value(array)
        held.array = array

    def holding(self) -> Any:
        return self.module

    def rebuilt(self) -> Any:
        """A copy: the user's module is left alone."""
        copy = NnxModule(nnx.clone(self.module))
        for held, own in zip(self.arrays, copy.arrays, strict=True):
            copy.put(own, held.array)
        return copy.module


def _variables(node: Any, path: tuple[Any, ...] = (), above: tuple[int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """(path, variable), in the order of the module's state; one that is shared comes once for each of its paths."""
    if isinstance(node, nnx.Variable):
        yield path, node
    elif graphlib.is_node(node) and id(node) not in above:
        node_type: Any = graphlib.get_node_impl(node)
        children = node_type.node_dict(node)
        for key, child in children.items():
            yield from _variables(child, (*path, key), (*above, id(node)))


def _paths(state: Any) -> list[tuple[list[str], Any]]:
    """Leaves of a state by the path of their variable."""
    found = jax.tree_util.tree_flatten_with_path(state)[0]
    return [([jax.tree_util.keystr((p,), simple=True) for p in path if _is_key_of_path(p)], leaf)
            for path, leaf in found]  # fmt: skip


def _is_key_of_path(entry: Any) -> bool:
    """Not the value inside of a variable."""
    return not (isinstance(entry, jax.tree_util.GetAttrKey) and entry.name == "value")


def _raw(variable: Any) -> Any:
    raw = variable.get_raw_value()
    return raw[...] if variable.ref else raw


def _is_chance(variable: Any) -> bool:
    return isinstance(variable, nnx.RngState) or is_key(_raw(variable))


def _chance(leaf: Any, key: Any, place: int) -> Any:
    """Another key in place of the model's own, whose streams are left alone; zero for a count without a value."""
    if is_array(leaf) and is_key(leaf):
        own = jax.random.fold_in(key, place)
        return jax.random.split(own, leaf.shape) if leaf.shape else own
    return jnp.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf


def _held(name: str, variable: Any, aliases: tuple[str, ...]) -> Held:
    array = _raw(variable)
    parameter = is_number(array) and not isinstance(variable, STATE)
    measured = isinstance(variable, nnx.BatchStat) and name.endswith("var")
    return Held(name, array, parameter, isinstance(variable, nnx.Param), aliases, unknown=1.0 if measured else 0.0)


def _index(accepted: list[Any]) -> int:
    return [p.name for p in accepted].index("rngs") + 1
