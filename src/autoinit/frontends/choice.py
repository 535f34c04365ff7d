"""Which front end understands a model. A front end is imported only if its framework has been imported by the user."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from ..errors import ModelError
from .base import FrontEnd
from .parameters_given import WithParameters, keeps_its_own

if TYPE_CHECKING:  # that they are what the protocol says, mypy finds out here
    from .jax import front as jax_front
    from .keras import front as keras_front
    from .torch import front as torch_front

    _checked: tuple[FrontEnd, ...] = (keras_front, torch_front, jax_front)

MODELS = "torch.nn.Module, a Keras 3 model, a module of Flax, Equinox or Haiku"
FUNCTIONS = "a function of JAX comes with its parameters (params=)"
FRONT_ENDS = {
    "keras": "autoinit.frontends.keras.front", "torch": "autoinit.frontends.torch.front",
    "jax": "autoinit.frontends.jax.front",
}  # fmt: skip
"""Framework -> front end. Keras comes first: on its PyTorch backend, Keras models are torch modules too."""


def front_ends() -> Iterator[FrontEnd]:
    """Those of the frameworks that the user has imported."""
    for framework, path in FRONT_ENDS.items():
        if framework in sys.modules:
            yield cast(FrontEnd, import_module(path))


def front_end_of(model: Any) -> FrontEnd:
    """The front end that understands `model`."""
    for front_end in front_ends():
        if front_end.understands(model):
            return front_end
    received, fix = _meant(model)
    raise ModelError("this is not a model that AutoInit understands", where="model", received=received, fix=fix)


def _meant(model: Any) -> tuple[str, str]:
    """What was given in place of a model, and what to give."""
    name = getattr(model, "__name__", "")
    if isinstance(model, type):
        return f"the class {name}", f"give a model, what {name}(...) makes"
    if isinstance(model, FunctionType):
        return f"the function {name}", f"what {name}(...) returns, if it makes a model; {FUNCTIONS}"
    return type(model).__name__, f"give a {MODELS}; {FUNCTIONS}"


def with_parameters(model: Any, parameters: Any) -> Any:
    """A model of JAX that keeps no parameters, with those that were given (None: as it is)."""
    if parameters is None:
        return model
    for front_end in front_ends():
        if front_end.NAME != "jax" and front_end.understands(model):
            return keeps_its_own(model, parameters)
    return WithParameters(model, parameters)
