"""kernel_initializer="autoinit": layers that scale themselves while the model is being built."""

import keras
import numpy as np
import pytest
from keras import layers

import autoinit
import autoinit.keras
from autoinit.frontends.keras.variables import parameters_of


def std(variable):
    return float(np.std(keras.ops.convert_to_numpy(variable)))


def kernels(model):
    return {name: v for name, v in parameters_of(model).items() if "kernel" in name or "embeddings" in name}


def convolutional(initializer):
    inputs = x = keras.Input((32, 32, 3))
    for k in range(5):
        y = layers.Conv2D(48, 3, padding="same", activation="relu", kernel_initializer=initializer, name=f"conv{k}")(x)
        y = layers.BatchNormalization(name=f"norm{k}")(y) if k % 2 else y
        x = layers.Add(name=f"add{k}")([x, y]) if k else y
    x = layers.MaxPooling2D(name="pool")(x)
    x = layers.Flatten(name="flat")(keras.ops.tanh(x))
    return keras.Model(inputs, layers.Dense(64, kernel_initializer=initializer, name="head")(x))


def attention(initializer):
    inputs = keras.Input((16,), dtype="int32")
    x = layers.Embedding(500, 64, embeddings_initializer=initializer, name="table")(inputs)
    y = layers.LayerNormalization(name="norm")(x)
    y = layers.MultiHeadAttention(4, 16, kernel_initializer=initializer, name="attention")(y, y)
    x = layers.Add(name="sum")([x, y])
    return keras.Model(inputs, layers.Dense(64, kernel_initializer=initializer, name="head")(x))


def nested(initializer):
    inner = keras.Input((64,))
    block = keras.Model(inner, layers.Dense(64, activation="relu", name="inside")(inner), name="block")
    inputs = keras.Input((64,))
    x = layers.Dense(64, kernel_initializer=initializer, name="first")(inputs)
    x = layers.Concatenate(name="both")([block(x), block(layers.Rescaling(3.0, name="three")(x))])
    return keras.Model(inputs, layers.Dense(64, kernel_initializer=initializer, name="head")(x))


@pytest.mark.parametrize("make", [convolutional, attention, nested])
def test_building_does_what_initialize_does(make):
    """Standard deviations as planned, up to the error 1/sqrt(2 n) of drawing n weights (and of those before)."""
    built = make(autoinit.keras.Initializer(seed=1))
    plan = autoinit.plan(built, skip="block/*" if make is nested else ())
    for path, variable in kernels(built).items():
        entry = plan[path]
        if entry.parts:
            error = 5 / (2 * np.prod(variable.shape)) ** 0.5 + 0.03
            assert std(variable) == pytest.approx(entry.parts[0].std, rel=error), path


def test_by_name():
    model = keras.Sequential([keras.Input((100,)), layers.Dense(400, "relu", kernel_initializer="autoinit"),
                              layers.Dense(400, kernel_initializer="autoinit")])  # fmt: skip
    assert isinstance(model.layers[0].kernel_initializer, autoinit.keras.Initializer)
    assert std(model.layers[0].kernel) == pytest.approx(0.1, rel=0.02)
    assert std(model.layers[1].kernel) == pytest.approx((400 / 2) ** -0.5, rel=0.02)  # E[relu(z)²] = 1/2


def test_options_and_config():
    layer = layers.Dense(
        400, kernel_initializer=autoinit.keras.Initializer(variance=4.0, distribution="uniform", seed=3)
    )
    layer(keras.Input((400,)))
    values = keras.ops.convert_to_numpy(layer.kernel)
    assert values.std() == pytest.approx(2 / 20, rel=0.01)
    assert np.abs(values).max() <= 3**0.5 * 0.1 * 1.001
    again = keras.initializers.deserialize(keras.initializers.serialize(layer.kernel_initializer))
    assert again.get_config() == {"variance": 4.0, "distribution": "uniform", "seed": 3}


def test_bad_options_are_refused_at_once():
    with pytest.raises(autoinit.AutoInitError, match="variance"):
        autoinit.keras.Initializer(variance=-1.0)


def test_the_same_seed_draws_the_same_weights():
    one, two = (convolutional(autoinit.keras.Initializer(seed=5)) for _ in range(2))
    for a, b in zip(one.variables, two.variables, strict=True):
        np.testing.assert_array_equal(keras.ops.convert_to_numpy(a), keras.ops.convert_to_numpy(b))
    other = convolutional(autoinit.keras.Initializer(seed=6))
    assert not np.allclose(*(keras.ops.convert_to_numpy(m.get_layer("head").kernel) for m in (one, other)))


def test_saves_and_reloads(tmp_path):
    model = convolutional("autoinit")
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(again.get_layer("conv0").kernel_initializer, autoinit.keras.Initializer)
    for a, b in zip(model.weights, again.weights, strict=True):
        np.testing.assert_array_equal(keras.ops.convert_to_numpy(a), keras.ops.convert_to_numpy(b))


def test_a_layer_called_on_data_uses_the_data():
    layer = layers.Dense(300, kernel_initializer="autoinit")
    data = np.random.default_rng(0).normal(2.0, 3.0, (512, 200)).astype("float32")
    layer(data)
    assert std(layer.kernel) == pytest.approx((200 * 13) ** -0.5, rel=0.02)  # E[x²] = 4 + 9


def test_a_layer_of_ones_own_inside():
    @keras.saving.register_keras_serializable("test_initializer")
    class Block(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = layers.Dense(256, activation="relu", kernel_initializer="autoinit")
            self.outer = layers.Dense(256, kernel_initializer="autoinit")

        def call(self, x):
            return self.outer(self.inner(3.0 * x))

    inputs = keras.Input((256,))
    block = Block()
    keras.Model(inputs, block(inputs))
    assert std(block.inner.kernel) == pytest.approx(1 / 48, rel=0.02)
    assert std(block.outer.kernel) == pytest.approx(128**-0.5, rel=0.02)


def test_without_knowing_what_comes_in_variance_one_is_taken():
    layer = layers.Dense(300, kernel_initializer="autoinit")
    layer.build((None, 400))
    assert std(layer.kernel) == pytest.approx(0.05, rel=0.02)


def test_what_cannot_be_copied_is_told():
    class Odd(layers.Layer):
        def __init__(self, needed):
            super().__init__()
            self.dense = layers.Dense(300)
            self.w = None

        def build(self, shape):
            self.w = self.add_weight(shape=(400, 300), initializer="autoinit", name="w")

        def call(self, x):
            return keras.ops.matmul(x, self.w)

        def get_config(self):
            raise NotImplementedError("no config")

    layer = Odd(1)
    with pytest.warns(UserWarning, match="cannot be followed"):
        layer(keras.Input((400,)))
    assert std(layer.w) == pytest.approx(0.05, rel=0.02)
