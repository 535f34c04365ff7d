"""Libraries: how their models become programs. One is imported only if the user has imported the library."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import jax

from ....core.checks import brief
from ....errors import ModelError
from ...parameters_given import WithParameters
from ..held import Adapted
from ..names import is_array
from .functions import Function, Parameters

LIBRARIES = {"flax.nnx": "nnx", "flax.linen": "linen", "equinox": "equinox", "haiku": "haiku"}
"""Module that users import -> file here."""


def adapter_of(model: Any) -> Callable[..., Adapted] | None:
    """What adapts a model that is an object of a library: called with it, and its parameters if it has none."""
    library = _library_of(model)
    return None if library is None else library.adapted


def initial_of(model: Any) -> Callable[..., Any] | None:
    """What makes the parameters of a model that keeps none, of a key and inputs."""
    make = getattr(_library_of(model), "initial", None)
    return None if make is None else make(model)


def trains_at_first(model: Any) -> bool:
    """Whether the parameters are made by a call in training mode, as the library's users do it."""
    return bool(getattr(_library_of(model), "TRAINS_AT_FIRST", False))


def _library_of(model: Any) -> Any:
    for library, file in LIBRARIES.items():
        if library in sys.modules:
            module = import_module(f".{file}", __name__)
            if module.understands(model):
                return module
    return None


def adapted(model: Any) -> Adapted:
    """A model, with the parameters that were given with it or without."""
    parameters = None
    if isinstance(model, WithParameters):
        model, parameters = model.model, model.parameters
    make = adapter_of(model)
    if make is not None:
        return make(model, parameters)
    if parameters is not None and callable(model):
        return Function(model, parameters)
    if parameters is None and is_structure(model):
        return Parameters(model)
    raise ModelError("this is no function of parameters", where="model", received=brief(model),
                     fix="give fn(params, x) and params=, or a module of Flax, Equinox or Haiku")  # fmt: skip


def is_structure(model: Any) -> bool:
    """Whether this is a structure of arrays (or shapes) and nothing else: parameters without their function."""
    if is_array(model) or not _may_hold(model):
        return False
    leaves = jax.tree_util.tree_leaves(model)
    return bool(leaves) and all(is_array(leaf) and not _foreign(leaf) for leaf in leaves)


def _may_hold(model: Any) -> bool:
    return isinstance(model, (Mapping, list, tuple)) or not jax.tree_util.all_leaves([model])


def _foreign(leaf: Any) -> bool:
    """Arrays of other frameworks have shapes and types, too."""
    return type(leaf).__module__.partition(".")[0] in ("torch", "tensorflow", "keras")
