"""A sum with learned weights."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="autoinit")
class WeightedSum(keras.layers.Layer):
    """y = sum_i w_i x_i of two or more tensors of one shape, with one learned number w_i per tensor.

    initializer: of the weights; "ones" makes the layer start as a plain sum.
    """

    def __init__(self, initializer: Any = "ones", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initializer = keras.initializers.get(initializer)

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, (list, tuple)) or len(input_shape) < 2 or not _are_shapes(input_shape):
            raise ValueError(f"WeightedSum takes a list of at least two tensors, received shape {input_shape}")
        if len({tuple(shape[1:]) for shape in input_shape}) > 1:
            raise ValueError(f"WeightedSum takes tensors of one shape, received {input_shape}")
        self.terms = self.add_weight(shape=(len(input_shape),), initializer=self.initializer, name="terms")

    def call(self, inputs: Any) -> Any:
        total = self.terms[0] * inputs[0]
        for k, tensor in enumerate(inputs[1:], start=1):
            total = total + self.terms[k] * tensor
        return total

    def compute_output_shape(self, input_shape: Any) -> Any:
        return tuple(input_shape[0])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        known = [m for m in mask or () if m is not None]
        if not known:
            return None
        together = known[0]
        for other in known[1:]:
            together = ops.logical_and(together, other)
        return together

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "initializer": keras.initializers.serialize(self.initializer)}


def _are_shapes(shapes: Any) -> bool:
    return all(isinstance(shape, (list, tuple)) for shape in shapes)
