"""The framework's default for Keras models: every layer's own initializers, drawn anew."""

from __future__ import annotations

from typing import Any

from keras import initializers

from ..core.drawing.words import name_seed
from ..frontends.keras.inputs import call_arguments, own_inputs
from ..frontends.keras.variables import give_values, layers_of, parameters_of
from ..frontends.keras.walk import build


def reset(model: Any, seed: int) -> None:
    """Draw all trainable weights from the initializers of their layers; weights without one stay."""
    if own_inputs(model) is not None:
        args, kwargs, _ = call_arguments(model, None)
        build(model, args, kwargs)
    names = {id(variable): name for name, variable in parameters_of(model).items()}
    for layer in layers_of(model):
        for variable in layer._trainable_variables:
            initializer = initializer_of(layer, variable)
            if id(variable) in names and variable.trainable and initializer is not None:
                give_values(variable)
                seeded = _seeded(initializer, name_seed(seed, names[id(variable)], 0))
                variable.assign(seeded(tuple(variable.shape), dtype=variable.dtype))


def initializer_of(layer: Any, variable: Any) -> Any:
    """By the naming of Keras layers: `kernel` has `kernel_initializer`, `depthwise_kernel` `depthwise_initializer`."""
    attributes = [name for name, value in vars(layer).items() if value is variable]
    for name in [variable.name, *(a.lstrip("_") for a in attributes)]:
        for stem in (name, name.removesuffix("_kernel")):
            found = getattr(layer, f"{stem}_initializer", None)
            if callable(found):
                return found
    return None


def _seeded(initializer: Any, seed: int) -> Any:
    """The same initializer with another seed, if it has one."""
    if not isinstance(initializer, initializers.Initializer):
        return initializer
    config = initializer.get_config()
    if "seed" not in config:
        return initializer
    return type(initializer).from_config({**config, "seed": seed % 2**31})
