"""Keras activations and activation layers that take a number off their output. Both are saved with their model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import layers, ops
from keras.src.saving import serialization_lib

from ...core.gaussian.mean_of_values import gaussian_mean
from .variables import as_array

LAYER = "CenteredLayer"


@keras.saving.register_keras_serializable(package="autoinit")
class Centered:
    """An activation argument: f(x) - shift."""

    def __init__(self, function: Any, shift: float) -> None:
        self.function, self.shift = keras.activations.get(function), float(shift)
        self.__name__ = f"centered_{name_of(self.function)}"

    def __call__(self, x: Any) -> Any:
        return self.function(x) - self.shift

    def __repr__(self) -> str:
        return f"Centered({name_of(self.function)}, shift={self.shift:.4g})"

    def get_config(self) -> dict[str, Any]:
        return {"function": keras.activations.serialize(self.function), "shift": self.shift}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Centered:
        return cls(keras.activations.get(config["function"]), config["shift"])


@keras.saving.register_keras_serializable(package="autoinit", name=LAYER)
class CenteredLayer(layers.Layer):
    """f(x) - shift, where f is the layer class that this one is mixed into.

    It is saved as the layer that it was and the number, so that loading needs no more than the original's class.
    """

    original: type
    center_shift: float

    def call(self, *args: Any, **kwargs: Any) -> Any:
        return super().call(*args, **kwargs) - self.center_shift

    def get_config(self) -> dict[str, Any]:
        centred = type(self)
        self.__class__ = self.original
        try:
            described = serialization_lib.serialize_keras_object(self)
        finally:
            self.__class__ = centred
        return {"layer": described, "center_shift": self.center_shift}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        layer = serialization_lib.deserialize_keras_object(config["layer"])
        centre_layer(layer, config["center_shift"])
        return layer


_CLASSES: dict[type, type] = {}


def centred_class(original: type) -> type:
    """The class of centred layers of a class."""
    if original not in _CLASSES:
        made = type(f"Centered{original.__name__}", (CenteredLayer, original),
                    {"original": original, "__module__": __name__})  # fmt: skip
        _CLASSES[original] = keras.saving.register_keras_serializable(package="autoinit", name=LAYER)(made)
    return _CLASSES[original]


def centre_layer(layer: Any, shift: float) -> None:
    """Take `shift` off what the layer gives, instead of what was taken off before."""
    layer.center_shift = float(shift)
    if not isinstance(layer, CenteredLayer):
        layer.__class__ = centred_class(type(layer))


def as_it_was(layer: Any) -> Callable[[], None]:
    """What undoes `centre_layer`: the class and the number of now."""
    original, there, shift = type(layer), "center_shift" in vars(layer), vars(layer).get("center_shift")

    def undo() -> None:
        layer.__class__ = original
        if there:
            layer.center_shift = shift
        elif "center_shift" in vars(layer):
            del layer.center_shift

    return undo


def name_of(function: Any) -> str:
    """The name of an activation, or of the class of an activation layer, as it was before it was centred."""
    if isinstance(function, Centered):
        return name_of(function.function)
    if isinstance(function, CenteredLayer):
        return function.original.__name__
    if isinstance(function, layers.Layer):
        return type(function).__name__
    return getattr(function, "__name__", None) or type(function).__name__


def centred_activation(activation: Any, mean: float, variance: float) -> Any:
    """A centred copy of a layer, or a centred Keras activation (for `autoinit.centered`); None if this is neither."""
    if isinstance(activation, layers.Layer):
        probe, made = (type(activation).from_config(activation.get_config()) for _ in range(2))
        if isinstance(probe, CenteredLayer):
            centre_layer(probe, 0.0)
        column = on_arrays(probe)
        centre_layer(made, gaussian_mean(lambda x: column(x[:, None])[:, 0], mean, variance))
        return made
    if isinstance(activation, Centered):
        activation = activation.function
    if not callable(activation) or not _is_keras_own(activation):
        return None
    return Centered(activation, gaussian_mean(on_arrays(activation), mean, variance))


def _is_keras_own(function: Any) -> bool:
    """Whether Keras can save the function: one of its own, or one that was registered."""
    if (getattr(function, "__module__", None) or "").startswith("keras."):
        return True
    name = getattr(function, "__name__", None)  # an object, such as a PyTorch module, has none
    return name is not None and keras.saving.get_registered_name(function) not in (name, function)


def on_arrays(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function of tensors, as one of arrays (in single precision: a backend may know no other)."""
    return lambda x: as_array(function(ops.convert_to_tensor(x, dtype="float32")))
