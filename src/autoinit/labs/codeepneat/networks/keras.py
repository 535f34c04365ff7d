"""An assembled network as a functional Keras 3 model, layer for layer the one of `networks.torch`.

Tensors have channels last. The initializers and regularizers of the genes are those of the Keras layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import layers as K

from ..layers import windows
from ..network import INPUT, Layer, NetworkGenome

CELLS = {"gru": K.GRU, "lstm": K.LSTM}
CONVOLUTIONS = {"conv1d": K.Conv1D, "conv2d": K.Conv2D}
POOLINGS = {"max_pooling1d": K.MaxPooling1D, "max_pooling2d": K.MaxPooling2D}
PROJECTIONS = {2: K.Conv1D, 3: K.Conv2D}
AVERAGES = {2: K.GlobalAveragePooling1D, 3: K.GlobalAveragePooling2D}
MAXIMA = {2: K.GlobalMaxPooling1D, 3: K.GlobalMaxPooling2D}
REGULARIZERS = {"l1": keras.regularizers.L1, "l2": keras.regularizers.L2}


@keras.saving.register_keras_serializable(package="autoinit.labs.codeepneat")
class WeightedSum(K.Layer):  # type: ignore[misc]
    """A sum with one learned weight for each summand; they begin as a mean."""

    def build(self, input_shape: Any) -> None:
        count = len(input_shape)
        self.weight = self.add_weight(
            shape=(count,), initializer=keras.initializers.Constant(1 / count), name="weight"
        )  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:
        total = self.weight[0] * inputs[0]
        for k, summand in enumerate(inputs[1:], start=1):
            total = total + self.weight[k] * summand
        return total

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape[0]


def build(genome: NetworkGenome) -> keras.Model:
    """The model, drawn from the initializers of its genes. Several outputs come as a dict by name."""
    integers = genome.input.vocabulary is not None
    start = keras.Input(genome.input.shape, dtype="int32" if integers else "float32", name=INPUT)
    made: dict[str, Any] = {}
    at = {INPUT: start}
    for layer in genome.layers:
        if layer.shares is None:
            made[layer.name] = _made(layer, genome)
        value = made[layer.owner](at[layer.inputs[0]] if len(layer.inputs) == 1 else [at[n] for n in layer.inputs])
        if layer.get("activation", "linear") != "linear":
            value = K.Activation(layer["activation"], name=f"{layer.name}_activation")(value)
        at[layer.name] = value
    answers = {name: at[layer] for name, layer in genome.outputs}
    return keras.Model(start, next(iter(answers.values())) if len(answers) == 1 else answers, name="network")


def _weighted(layer: Layer) -> dict[str, Any]:
    found: dict[str, Any] = {"name": layer.name}
    if layer.get("initialization") is not None:
        found["kernel_initializer"] = layer["initialization"]
    if layer.get("regularizer") is not None:
        found["kernel_regularizer"] = REGULARIZERS[layer["regularizer"]](layer.get("strength", 0.0))
    return found


FIXED: dict[str, Callable[..., Any]] = {
    "add": K.Add, "concatenate": K.Concatenate, "weighted_sum": WeightedSum, "flatten": K.Flatten,
}  # fmt: skip


def _made(layer: Layer, genome: NetworkGenome) -> Any:
    shape = genome.shapes[layer.inputs[0]]
    kind, name = layer.kind, layer.name
    if kind in FIXED:
        return FIXED[kind](name=name)
    if kind in ("average", "maximum"):
        return (AVERAGES if kind == "average" else MAXIMA)[len(shape)](name=name)
    if kind == "dense":
        return K.Dense(layer["units"], **_weighted(layer))
    if kind in CONVOLUTIONS:
        return CONVOLUTIONS[kind](layer["units"], layer["kernel"], padding="same", **_weighted(layer))
    if kind == "projection":
        options = {"use_bias": False, **_weighted(layer)}
        return PROJECTIONS[len(shape)](layer["units"], 1, **options) if len(shape) > 1 else K.Dense(
            layer["units"], **options
        )  # fmt: skip
    if kind in CELLS:
        return CELLS[kind](layer["units"], return_sequences=True, **_weighted(layer))
    if kind in POOLINGS:
        window, stride = windows(dict(layer.settings), shape)
        many = len(window) > 1
        return POOLINGS[kind](tuple(window) if many else window[0], tuple(stride) if many else stride[0], name=name)
    if kind == "embedding":
        return K.Embedding(layer["vocabulary"], layer["units"], name=name)
    return (K.SpatialDropout1D if kind == "spatial_dropout1d" else K.Dropout)(layer["rate"], name=name)
