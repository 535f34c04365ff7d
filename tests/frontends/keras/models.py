"""Small Keras models of every kind, by name: (model, inputs or None for the model's own)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
from keras import layers, ops

MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {}


def model(function: Callable[[], Any]) -> Callable[[], Any]:
    def make() -> tuple[Any, Any]:
        made = function()
        return made if isinstance(made, tuple) else (made, None)

    MODELS[function.__name__] = make
    return make


@model
def sequential_dense() -> Any:
    return keras.Sequential([keras.Input((16,)), layers.Dense(32, "relu"), layers.Dense(32, "tanh"), layers.Dense(4)])


@model
def unbuilt_sequential() -> Any:
    return keras.Sequential([layers.Dense(32, "relu"), layers.Dense(4)]), (8, 16)


@model
def convolutions() -> Any:
    return keras.Sequential([
        keras.Input((16, 16, 3)), layers.Conv2D(8, 3, padding="same", activation="relu"), layers.MaxPooling2D(),
        layers.DepthwiseConv2D(3, padding="same"), layers.SeparableConv2D(8, 3, activation="swish"),
        layers.Conv2D(8, 3, groups=4, padding="same"), layers.Conv2DTranspose(4, 3, strides=2, padding="same"),
        layers.ZeroPadding2D(1), layers.Cropping2D(1), layers.UpSampling2D(2), layers.GlobalAveragePooling2D(),
        layers.Dense(3, "softmax"),
    ])  # fmt: skip


@model
def residual_with_norms() -> Any:
    x = inputs = keras.Input((8, 8, 4))
    for _ in range(3):
        y = layers.BatchNormalization()(x)
        y = layers.Conv2D(4, 3, padding="same", use_bias=False)(layers.ReLU()(y))
        x = layers.Add()([x, layers.GroupNormalization(2)(y)])
    x = layers.LayerNormalization()(layers.Flatten()(x))
    return keras.Model(inputs, layers.Dense(5)(x))


def _block(width: int, name: str) -> keras.Model:
    x = inputs = keras.Input((width,))
    x = layers.Dense(width, "gelu", name="up")(x)
    x = layers.Dense(width, name="down")(x)
    return keras.Model(inputs, layers.Add(name="sum")([inputs, x]), name=name)


@model
def nested() -> Any:
    inner = _block(8, "inner")
    middle_in = keras.Input((8,))
    middle = keras.Model(middle_in, _block(8, "second")(inner(middle_in)), name="middle")
    x = inputs = keras.Input((8,))
    return keras.Model(inputs, layers.Dense(2, name="head")(middle(x)), name="outer")


@model
def shared_layers() -> Any:
    a, b = keras.Input((8,), name="left"), keras.Input((8,), name="right")
    shared = layers.Dense(8, "relu", name="shared")
    return keras.Model([a, b], layers.Dense(2)(layers.Concatenate()([shared(a), shared(shared(b))])))


@model
def dict_inputs_and_outputs() -> Any:
    inputs = {"image": keras.Input((8, 8, 3), name="image"), "meta": keras.Input((5,), name="meta")}
    features = layers.Flatten()(layers.Conv2D(4, 3, activation="relu")(inputs["image"]))
    both = layers.Concatenate()([features, layers.Dense(4)(inputs["meta"])])
    return keras.Model(inputs, {"class": layers.Dense(3, "softmax")(both), "value": layers.Dense(1)(both)})


@model
def ops_in_graph() -> Any:
    x = inputs = keras.Input((6, 8))
    y = ops.transpose(x, (0, 2, 1))
    y = ops.matmul(x, y) / 3.0
    y = ops.reshape(ops.mean(y, axis=-1), (-1, 6))
    a, b = ops.split(ops.exp(-ops.square(y)), 2, axis=1)
    return keras.Model(inputs, layers.Dense(2)(ops.concatenate([a + 1.0, ops.maximum(a, b) - b], axis=1)))


class Residual(layers.Layer):
    def __init__(self, width: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dense = layers.Dense(width, name="dense")
        self.norm = layers.LayerNormalization(name="norm")
        self.width = width

    def build(self, shape: Any) -> None:
        self.gain = self.add_weight(shape=(self.width,), initializer="ones", name="gain")
        self.dense.build(shape)
        self.norm.build(shape)

    def call(self, x: Any) -> Any:
        return x + self.gain * ops.relu(self.dense(self.norm(x)))


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = [Residual(8, name=f"block{k}") for k in range(2)]
        self.drop = layers.Dropout(0.2)
        self.head = layers.Dense(3)

    def call(self, x: Any, training: bool | None = None) -> Any:
        for block in self.blocks:
            x = block(x)
        return self.head(self.drop(x, training=training))


@model
def subclassed() -> Any:
    return Subclassed(), (16, 8)


@model
def transformer() -> Any:
    x = inputs = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 16)(x)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    x = x + layers.Dense(16)(layers.Dense(32, "gelu")(x))
    return keras.Model(inputs, layers.Dense(20)(x))


@model
def masked_embedding() -> Any:
    x = inputs = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8, mask_zero=True)(x)
    x = layers.MultiHeadAttention(2, 4)(x, x)
    return keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling1D()(x)))


@model
def recurrent() -> Any:
    x = inputs = keras.Input((5, 4))
    x = layers.LSTM(6, return_sequences=True)(x)
    x = layers.Bidirectional(layers.GRU(4, return_sequences=True))(x)
    return keras.Model(inputs, layers.Dense(2)(layers.SimpleRNN(4)(x)))


class MinimalCell(layers.Layer):
    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, shape: Any) -> None:
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="glorot_uniform", name="kernel")
        self.recurrent = self.add_weight(shape=(self.units, self.units), initializer="orthogonal", name="recurrent")

    def call(self, x: Any, states: Any) -> Any:
        h = ops.tanh(ops.matmul(x, self.kernel) + ops.matmul(states[0], self.recurrent))
        return h, [h]


@model
def own_cell() -> Any:
    x = inputs = keras.Input((5, 4))
    return keras.Model(inputs, layers.Dense(2)(layers.RNN(MinimalCell(6), return_sequences=True)(x)))


@model
def time_distributed() -> Any:
    x = inputs = keras.Input((3, 8, 8, 2))
    x = layers.TimeDistributed(layers.Conv2D(4, 3, activation="relu"))(x)
    x = layers.TimeDistributed(layers.Flatten())(x)
    return keras.Model(inputs, layers.TimeDistributed(layers.Dense(2))(x))


@model
def lambdas() -> Any:
    x = inputs = keras.Input((8,))
    x = layers.Lambda(lambda t: ops.abs(t) * 2.0)(layers.Dense(8)(x))
    return keras.Model(inputs, layers.Lambda(lambda t: t[:, ::2])(x))


@model
def mixed_precision() -> Any:
    policy = "mixed_bfloat16"
    x = inputs = keras.Input((8, 8, 3))
    x = layers.Conv2D(8, 3, activation="relu", dtype=policy)(x)
    x = layers.BatchNormalization(dtype=policy)(x)
    x = layers.GlobalMaxPooling2D(dtype=policy)(x)
    return keras.Model(inputs, layers.Dense(3, dtype="float32")(x))


@model
def unknown_sizes() -> Any:
    x = inputs = keras.Input((None, None, 3))
    x = layers.Conv2D(4, 3, strides=2, activation="elu")(x)
    return keras.Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling2D()(x)))


@model
def tied_embedding() -> Any:
    inputs = keras.Input((5,), dtype="int32")
    table = layers.ReversibleEmbedding(12, 8) if hasattr(layers, "ReversibleEmbedding") else layers.Embedding(12, 8)
    x = layers.Dense(8)(table(inputs))
    x = table(x, reverse=True) if hasattr(layers, "ReversibleEmbedding") else x
    return keras.Model(inputs, x)


@model
def regularized() -> Any:
    x = inputs = keras.Input((8,))
    x = layers.GaussianNoise(0.1)(x)
    x = layers.Dense(8, "selu", kernel_regularizer="l2", activity_regularizer="l1")(x)
    return keras.Model(inputs, layers.Dense(2)(layers.AlphaDropout(0.1)(x)))


@model
def preprocessing() -> Any:
    x = inputs = keras.Input((8, 8, 3), dtype="uint8")
    x = layers.Rescaling(1 / 127.5, offset=-1.0)(x)
    x = layers.Resizing(6, 6)(x)
    return keras.Model(inputs, layers.Dense(2)(layers.Flatten()(layers.Conv2D(4, 3)(x))))


def native(x: Any) -> Any:
    """The backend's own function, which nothing of Keras sees."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return tf.math.sinh(x)
    if keras.backend.backend() == "jax":
        import jax.numpy as jnp

        return jnp.sinh(x)
    import torch

    return torch.sinh(x)


class Native(layers.Layer):
    """Leaves Keras for NumPy, where nobody can follow."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = layers.Dense(8)

    def build(self, shape: Any) -> None:
        self.inner.build(shape)

    def call(self, x: Any) -> Any:
        return ops.convert_to_tensor(np.sinh(keras.ops.convert_to_numpy(self.inner(x))))

    def compute_output_shape(self, shape: Any) -> Any:
        return shape


@model
def native_functions() -> Any:
    x = inputs = keras.Input((8,))
    x = layers.Lambda(lambda t: native(t) + 1.0, output_shape=(8,))(layers.Dense(8)(x))
    return keras.Model(inputs, layers.Dense(2)(x))


@model
def native_code() -> Any:
    x = inputs = keras.Input((8,))
    x = Native(name="native")(layers.Dense(8, name="before")(x))
    return keras.Model(inputs, layers.Dense(2, name="after")(x))


class Positions(layers.Layer):
    def build(self, shape: Any) -> None:
        self.table = self.add_weight(shape=(100, shape[-1]), name="table")

    def call(self, x: Any) -> Any:
        n = ops.shape(x)[1]
        return x + ops.take(self.table, ops.arange(n), axis=0) + self.table[:n]


@model
def positions() -> Any:
    inputs = keras.Input((5, 4))
    return keras.Model(inputs, layers.Dense(2)(Positions()(inputs)))


class WeightNormalised(layers.Layer):
    def build(self, shape: Any) -> None:
        self.v = self.add_weight(shape=(shape[-1], 8), name="v")
        self.g = self.add_weight(shape=(8,), initializer="ones", name="g")

    def call(self, x: Any) -> Any:
        return ops.matmul(x, self.g * self.v / ops.norm(self.v, axis=0, keepdims=True))


@model
def normalised_by_hand() -> Any:
    inputs = keras.Input((6,))
    return keras.Model(inputs, WeightNormalised()(inputs))


@model
def convolutional_recurrence() -> Any:
    inputs = keras.Input((3, 8, 8, 2))
    return keras.Model(inputs, layers.ConvLSTM2D(4, 3)(inputs))


class Own(keras.Operation):
    """An operation of the user's own."""

    def call(self, x: Any) -> Any:
        return ops.relu(x) * 2.0

    def compute_output_spec(self, x: Any) -> Any:
        return keras.KerasTensor(x.shape, x.dtype)


@model
def own_operation() -> Any:
    inputs = keras.Input((6,))
    return keras.Model(inputs, layers.Dense(3)(Own()(layers.Dense(6)(inputs))))


class Tree(keras.Model):
    """Layers in lists and dicts, a Sequential inside, a dict returned."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = keras.Sequential([layers.Dense(8, "relu"), layers.Dense(4)])
        self.heads = {"a": layers.Dense(4), "b": [layers.Dense(2)]}

    def call(self, x: Any) -> Any:
        x = self.trunk(x)
        rows = ops.stack([ops.tanh(row) for row in x], axis=0) if keras.backend.backend() == "torch" else ops.tanh(x)
        return {"a": self.heads["a"](rows), "b": self.heads["b"][0](x)}


@model
def layers_in_containers() -> Any:
    return Tree(), (16, 4)


@model
def hashed_words() -> Any:
    inputs = keras.Input((5,), dtype="int32")
    try:
        hashing = layers.Hashing(7)
    except ImportError as error:  # some versions of Keras need TensorFlow for it, whatever the backend
        pytest.skip(str(error))
    return keras.Model(inputs, layers.Embedding(7, 3)(hashing(inputs)))


@model
def stacked_cells() -> Any:
    inputs = keras.Input((5, 4))
    cells = [layers.LSTMCell(4), layers.GRUCell(3)]
    return keras.Model(inputs, layers.RNN(cells, return_sequences=True)(inputs))


@model
def augmented() -> Any:
    inputs = keras.Input((8, 8, 3))
    x = layers.RandomContrast(0.1)(layers.RandomFlip()(inputs))
    return keras.Model(inputs, layers.Conv2D(4, 3)(x))
