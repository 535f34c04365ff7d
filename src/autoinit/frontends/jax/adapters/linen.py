"""Flax linen: modules without arrays, called with a dict of variables. Parameters are named within "params"."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

import flax.linen as nn
import jax
from flax.core import DenyList, meta

from ...parameters_given import WithParameters
from ..abstract import Made
from ..calling import arranged, completed, parameters_of
from ..held import Adapted, Held, held_array
from ..names import named_leaves
from ..program import Program

PARAMS = "params"
_WRAPPED = re.compile(r"^\w+\((.*)\)$")


def understands(model: Any) -> bool:
    return isinstance(model, nn.Module)


def adapted(model: Any, parameters: Any) -> Adapted:
    return LinenModule(model, parameters)


def initial(module: Any) -> Callable[..., Any]:
    """Makes variables of a key and inputs."""

    def init(key: Any, *args: Any, **kwargs: Any) -> Any:
        return module.init({PARAMS: key, "dropout": jax.random.fold_in(key, 1)}, *args, **kwargs)

    init.__signature__ = _signature(module)  # type: ignore[attr-defined]
    return init


def _signature(module: Any) -> Any:
    """That of the module's call, after a key."""
    first = inspect.Parameter("key", inspect.Parameter.POSITIONAL_ONLY)
    return inspect.Signature([first, *parameters_of(module)])


class LinenModule(Adapted):
    """A module, and its variables (or its parameters alone, if it has nothing else)."""

    def __init__(self, module: Any, variables: Any) -> None:
        self.module, self.name = module, type(module).__name__
        made = variables if isinstance(variables, Made) else None
        self.variables = made.tree if made is not None else variables
        self.alone = not isinstance(self.variables, Mapping) or PARAMS not in self.variables
        boxed = named_leaves(self.variables, is_leaf=_is_box)
        self.structure = jax.tree_util.tree_structure(self.variables, is_leaf=_is_box)
        self._boxes = [leaf if _is_box(leaf) else None for _, leaf in boxed]
        self.arrays = [held_array(name, leaf.unbox() if _is_box(leaf) else leaf) for name, leaf in boxed]
        boxes = {name for name, leaf in boxed if _is_box(leaf)}
        self.comes_from(made, lambda name: f"{name}.value" if name in boxes else name)
        self.arrays = [self._known(held) for held in self.arrays]

    def _known(self, held: Held) -> Held:
        """By what its collection is for; parameters are named within theirs."""
        if self.alone:
            return held
        collection, _, rest = held.name.partition(".")
        if collection == PARAMS:
            held.name = rest
            return held
        held.parameter = held.trainable = False
        held.unknown = 1.0 if collection == "batch_stats" and rest.endswith("var") else 0.0
        return held

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        accepted = parameters_of(self.module)
        modules = self.modules()

        def call(values: Any, inputs: Any, key: Any) -> Any:
            tree = jax.tree_util.tree_unflatten(self.structure, list(values))
            variables = {PARAMS: tree} if self.alone else tree
            args, kwargs = completed(arranged(inputs, accepted), accepted, training, None)
            rngs = {PARAMS: jax.random.fold_in(key, 0), "dropout": jax.random.fold_in(key, 1)}
            return self.module.apply(variables, *args, rngs=rngs, mutable=DenyList(PARAMS), **kwargs)[0]

        def place(stack: str) -> str | None:
            return _module_of(stack, modules)

        return Program(self.name, self.leaves(), call, place, _unbound), inputs

    def holding(self) -> Any:
        arrays = [
            held.array if box is None else box.replace_boxed(held.array)
            for held, box in zip(self.arrays, self._boxes, strict=True)
        ]
        return jax.tree_util.tree_unflatten(self.structure, arrays)

    def rebuilt(self) -> Any:
        return WithParameters(self.module, self.holding())


def _unbound(module: Any) -> Any:
    return module.clone(parent=None) if isinstance(module, nn.Module) else module


def _is_box(item: Any) -> bool:
    return isinstance(item, meta.AxisMetadata)


def _module_of(stack: str, modules: set[str]) -> str | None:
    """The module in a name stack such as ``jvp(Net)/Block_0/Block_0.encode/Dense_0``: what comes after the model's own
    class, as far as modules have such names. None if no module runs."""
    found: list[str] = []
    for part in [_inside(part) for part in stack.split("/")][1:]:
        name, dot, _ = part.partition(".")
        if dot and found and found[-1] == name:  # a method of the module that runs
            continue
        if ".".join([*found, name]) not in modules:
            break
        found.append(name)
    return ".".join(found) or None


def _inside(part: str) -> str:
    """Without the names of transformations around it."""
    while (inner := _WRAPPED.match(part)) is not None:
        part = inner.group(1)
    return part
