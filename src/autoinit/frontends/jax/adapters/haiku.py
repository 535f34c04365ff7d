"""Haiku: transformed functions, called with parameters by module and name, and state in the same form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import haiku as hk
import jax

from ....core.checks import brief
from ....errors import ModelError
from ...parameters_given import WithParameters
from ..abstract import Made
from ..calling import arranged, completed, parameters_of
from ..held import Adapted, Held, held_array
from ..names import named_leaves
from ..program import Program

TRAINS_AT_FIRST = True
"""Averages of batch norms come into being when they are updated."""


def understands(model: Any) -> bool:
    return isinstance(model, (hk.Transformed, hk.TransformedWithState))


def adapted(model: Any, parameters: Any) -> Adapted:
    return HaikuFunction(model, parameters)


def initial(transformed: Any) -> Callable[..., Any]:
    """Makes parameters (and state) of a key and inputs."""
    init: Callable[..., Any] = transformed.init
    return init


class HaikuFunction(Adapted):
    """A transformed function with its parameters; one with state with both, as its `init` gives them."""

    name = "haiku"

    def __init__(self, transformed: Any, given: Any) -> None:
        self.transformed = transformed
        self.stateful = isinstance(transformed, hk.TransformedWithState)
        made = given if isinstance(given, Made) else None
        tree = made.tree if made is not None else given
        if self.stateful and not (isinstance(tree, tuple) and len(tree) == 2):
            raise ModelError("a function with state is called with its parameters and its state",
                             where="option 'params'", received=brief(tree),
                             fix="params=(params, state), as init gives them")  # fmt: skip
        self.structure = jax.tree_util.tree_structure(tree)
        self.arrays = [held_array(name, leaf) for name, leaf in named_leaves(tree)]
        self.comes_from(made)
        self.arrays = [self._known(held) for held in self.arrays]

    def _known(self, held: Held) -> Held:
        """With state, names are those within the parameters, or within the state."""
        if self.stateful:
            which, _, name = held.name.partition(".")
            held.name = name
            if which == "1":
                held.name = f"state.{held.name}"
                held.parameter = held.trainable = False
                held.unknown = 1.0 if "var" in name and name.endswith("average") else 0.0
        return held

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        accepted = parameters_of(self.transformed.apply, 3 if self.stateful else 2)
        places = {name.replace("/~", ""): name for name in self.modules()}

        def call(values: Any, inputs: Any, key: Any) -> Any:
            tree = jax.tree_util.tree_unflatten(self.structure, list(values))
            args, kwargs = completed(arranged(inputs, accepted), accepted, training, None)
            if self.stateful:
                return self.transformed.apply(*tree, key, *args, **kwargs)[0]
            return self.transformed.apply(tree, key, *args, **kwargs)

        def place(stack: str) -> str | None:
            parts = stack.split("/")
            found = ("/".join(parts[:k]) for k in range(len(parts), 0, -1))
            return next((places[name] for name in found if name in places), None)

        return Program(self.name, self.leaves(), call, place), inputs

    def holding(self) -> Any:
        return jax.tree_util.tree_unflatten(self.structure, [held.array for held in self.arrays])

    def rebuilt(self) -> Any:
        return WithParameters(self.transformed, self.holding())
