"""A Keras model on the JAX backend, as Keras sees it and as the function of JAX that it is: one plan."""

import keras
import pytest
from keras import layers

import autoinit

if keras.backend.backend() != "jax":
    pytest.skip("a model is a function of JAX on its backend alone", allow_module_level=True)

import jax
import numpy as np
from jax import numpy as jnp


def convolutional():
    x = inputs = keras.Input((16, 16, 3), 8)
    for width in (16, 32):
        x = layers.Conv2D(width, 3, strides=2, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.Dropout(0.2, seed=0)(layers.ReLU()(x))
    x = layers.MaxPooling2D()(layers.Conv2D(32, 3, padding="same", activation="gelu")(x))
    return keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling2D()(x)))


def residual():
    x = inputs = keras.Input((12, 32), 16)
    for _ in range(3):
        y = layers.LayerNormalization()(x)
        x = x + layers.Dense(32)(layers.Dense(64, "silu")(y))
        x = x + layers.MultiHeadAttention(4, 8)(*[layers.LayerNormalization()(x)] * 2, use_causal_mask=True)
    return keras.Model(inputs, layers.Dense(5)(x))


def words():
    ids = keras.Input((10,), 32, dtype="int32")
    x = layers.Conv1D(48, 3, activation="tanh")(layers.Embedding(50, 32)(ids))
    return keras.Model(ids, layers.Dense(4)(layers.Flatten()(x)))


def as_function(model):
    """(function, parameters by their paths)."""
    trained, kept = model.trainable_variables, [v.value for v in model.non_trainable_variables]

    def function(params, x, training=True):
        return model.stateless_call([params[v.path] for v in trained], kept, x, training=training)[0]

    return function, {v.path: jax.ShapeDtypeStruct(tuple(v.shape), v.dtype) for v in trained}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("build", [convolutional, residual, words])
def test_both_front_ends_agree(build, training):
    model = build()
    function, shapes = as_function(model)
    given = [np.array(v.value) for v in model.variables]
    inputs = autoinit.Input(model.inputs[0].shape, vocabulary=50 if build is words else None)
    params = {v.path: v.value for v in model.trainable_variables}
    in_keras = autoinit.plan(model, inputs, training=training)
    in_jax = autoinit.plan(function, inputs, params=params, training=training)
    assert {p.name.replace(".", "/"): p.action for p in in_jax} == {p.name: p.action for p in in_keras}
    for entry in in_keras.changed():
        (other,) = [p for p in in_jax if p.name.replace(".", "/") == entry.name]
        assert other.std == pytest.approx(entry.std, rel=1e-6)
    assert all(np.array_equal(a, v.value) for a, v in zip(given, model.variables, strict=True))
    if not training:
        return
    new = in_jax.apply(params, seed=3)
    in_keras.apply(model, seed=3)
    for v in model.trainable_variables:  # the same names and shapes: the same draws, to the last digits of their scale
        np.testing.assert_allclose(new[v.path], v.value, rtol=2e-6, atol=1e-9)
    assert isinstance(new[v.path], jnp.ndarray) and set(new) == set(shapes)
