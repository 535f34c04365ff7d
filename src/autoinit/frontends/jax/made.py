"""Modules that keep no parameters, when none were given: what their `init` makes stands in.

For a plan, shapes are enough, with the values that do not depend on chance; what is checked or measured without
parameters is the library's own initialization.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...errors import ModelError
from ..parameters_given import WithParameters
from .abstract import made
from .adapters import adapter_of, initial_of, trains_at_first
from .calling import arranged, completed, parameters_of
from .inputs import Given, given_inputs, with_arrays


def bound(model: Any, inputs: Any, values: bool) -> Any:
    """The model with parameters; `values`: real ones, of the library's own initialization."""
    if isinstance(model, WithParameters) or adapter_of(model) is None:
        return model
    initial = initial_of(model)
    if initial is None:
        return model
    if inputs is None:
        raise ModelError("this module has no parameters before it is called", where="model",
                         received=type(model).__name__, fix="give inputs, or its parameters: params=")  # fmt: skip
    function, given = _of_arrays(initial, inputs, trains_at_first(model))

    def real() -> tuple[Any, list[Any]]:
        rng = np.random.default_rng(0)
        return jax.random.key(0), [item.sample(rng) for item in given]

    if values:
        return WithParameters(model, jax.jit(function)(*real()))
    key = jax.eval_shape(lambda: jax.random.key(0))
    return WithParameters(model, made(function, key, [item.abstract for item in given], real=real))


def _of_arrays(initial: Any, inputs: Any, training: bool) -> tuple[Callable[..., Any], list[Given]]:
    """function(key, arrays) makes the parameters."""
    given, structure, leaves = given_inputs(inputs)
    accepted = parameters_of(initial, 1)

    def function(key: Any, arrays: Any) -> Any:
        args, kwargs = completed(arranged(with_arrays(structure, leaves, arrays), accepted), accepted, training, None)
        return initial(key, *args, **kwargs)

    return function, given
