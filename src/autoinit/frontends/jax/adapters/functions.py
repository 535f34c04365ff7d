"""Plain functions: fn(params, *inputs), with params any structure of arrays or shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ....core.checks import brief
from ....errors import ModelError
from ...parameters_given import WithParameters
from ..calling import arranged, completed, parameters_of
from ..held import Adapted, held_array
from ..names import is_array, named_leaves
from ..program import Program


class Parameters(Adapted):
    """A structure of arrays without the function that takes it: a plan can be applied to it."""

    def __init__(self, tree: Any, name: str = "parameters") -> None:
        self.name = name
        named = named_leaves(tree)
        wrong = next((leaf for _, leaf in named if not is_array(leaf)), None)
        if wrong is not None or not named:
            raise ModelError("parameters are arrays or shapes, in any structure", where="option 'params'",
                             received=brief(wrong if named else tree),
                             fix="arrays, or jax.ShapeDtypeStruct(shape, dtype)")  # fmt: skip
        self.structure = jax.tree_util.tree_structure(tree)
        self.arrays = [held_array(name, leaf) for name, leaf in named]

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        raise ModelError("parameters alone cannot be called", where="model", received=self.name,
                         fix="give the function, and the parameters as params=")  # fmt: skip

    def holding(self) -> Any:
        return jax.tree_util.tree_unflatten(self.structure, [held.array for held in self.arrays])


class Function(Parameters):
    """A function and its parameters."""

    def __init__(self, function: Callable[..., Any], tree: Any) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        super().__init__(tree, "function" if name == "<lambda>" else name)
        self.function = function

    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        accepted = parameters_of(self.function, 1)

        def call(values: Any, inputs: Any, key: Any) -> Any:
            args, kwargs = completed(arranged(inputs, accepted), accepted, training, key)
            return self.function(jax.tree_util.tree_unflatten(self.structure, list(values)), *args, **kwargs)

        return Program(self.name, self.leaves(), call), inputs

    def rebuilt(self) -> Any:
        return WithParameters(self.function, self.holding())
