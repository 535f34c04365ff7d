"""center="activation" for Keras models: activation arguments, layers, saving, compiled functions."""

from math import pi, sqrt

import keras
import numpy as np
import pytest
from keras import layers, ops

import autoinit
from autoinit.keras import Centered, CenteredLayer, load

RELU = 1 / sqrt(2 * pi)


@keras.saving.register_keras_serializable("test_centring")
class Swish(layers.Layer):
    """Its config is made by Keras from the arguments of __init__."""

    def __init__(self, beta=1.0, **kwargs):
        super().__init__(**kwargs)
        self.beta = beta

    def call(self, x):
        return x * ops.sigmoid(self.beta * x)


def between(*middle):
    keras.utils.set_random_seed(0)
    return keras.Sequential([keras.Input((32,)), layers.Dense(32, name="first"), *middle, layers.Dense(8, name="last")])


def places(model, inputs=None, **options):
    return [(c.place, c.function) for c in autoinit.plan(model, inputs, center="activation", **options).centers]


def called(model, x):
    return np.array(ops.convert_to_numpy(model(x, training=False)))


X = np.random.default_rng(0).standard_normal((16, 32)).astype(np.float32)

ACTIVATIONS = {
    "argument": lambda: layers.Dense(32, activation="relu"),
    "Activation": lambda: layers.Activation("gelu"),
    "ReLU": lambda: layers.ReLU(max_value=6.0),
    "LeakyReLU": lambda: layers.LeakyReLU(negative_slope=0.1),
    "ELU": lambda: layers.ELU(),
    "PReLU": lambda: layers.PReLU(alpha_initializer=keras.initializers.Constant(0.25)),
    "own layer": lambda: Swish(1.5),
    "layer as argument": lambda: layers.Dense(32, activation=layers.LeakyReLU()),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_centred_saved_and_loaded(name, tmp_path):
    model = between(ACTIVATIONS[name]())
    plan = autoinit.initialize(model, (256, 32), center="activation", training=False)
    assert len(plan.centers) == 1 and plan.centers[0].shift > 0.05
    output = called(model, X)
    assert [type(row) for row in plan.tensors] and plan.weight_layers[-1].mean_in == pytest.approx(0.0, abs=1e-9)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(called(loaded, X), output, rtol=1e-6, atol=1e-6)
    assert places(loaded) == places(model)
    clone = keras.models.clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(called(clone, X), output, rtol=1e-6, atol=1e-6)
    from_json = load(model.to_json())
    from_json.set_weights(model.get_weights())
    np.testing.assert_allclose(called(from_json, X), output, rtol=1e-6, atol=1e-6)
    assert len(autoinit.plan(model.to_json(), (256, 32), center="activation").centers) == 1
    autoinit.initialize(model, (256, 32), center="bias", training=False)  # the shift is there: nothing is left
    np.testing.assert_allclose(called(model, X), output, rtol=0.02, atol=0.05)


def test_what_the_model_becomes():
    model = between(layers.Dense(32, activation="relu"), layers.Dense(32), layers.ReLU())
    dense, relu = model.layers[1], model.layers[-2]
    autoinit.initialize(model, (256, 32), center="activation")
    assert isinstance(dense.activation, Centered) and dense.activation.shift == pytest.approx(RELU, rel=0.05)
    assert isinstance(relu, CenteredLayer) and isinstance(relu, layers.ReLU) and relu.center_shift > 0.3
    assert "relu" in repr(dense.activation) and "CenteredReLU" in type(relu).__name__


def test_compiled_functions_see_the_change():
    model = between(layers.ReLU())
    model.compile("sgd", "mse")
    model.predict(X, verbose=0)
    model.train_on_batch(X, np.zeros((16, 8), np.float32))
    autoinit.initialize(model, (256, 32), center="activation")
    np.testing.assert_allclose(model.predict(X, verbose=0), called(model, X), rtol=1e-4, atol=1e-5)
    expected = float(np.mean(called(model, X) ** 2))
    model.reset_metrics()  # before 3.15, Keras reports the mean over all batches
    found = model.train_on_batch(X, np.zeros((16, 8), np.float32))
    assert float(np.ravel(found)[0]) == pytest.approx(expected, rel=1e-3)


def test_gates_outputs_and_recurrent_cells_keep_their_mean():
    inputs = keras.Input((6, 32))
    x = layers.LSTM(32, activation="relu", return_sequences=True)(inputs)
    x = layers.RNN(layers.GRUCell(32, activation="relu"))(x)
    gate = layers.Dense(32, activation="sigmoid", name="gate")(layers.Dense(8, activation="relu", name="squeeze")(x))
    outputs = layers.Dense(4, activation="sigmoid", name="out")(layers.Multiply()([x, gate]))
    model = keras.Model(inputs, outputs)
    plan = autoinit.plan(model, (16, 6, 32), center="activation")
    assert [(c.place, c.function) for c in plan.centers] == [("squeeze", "relu")]
    messages = [f"{n.place}: {n.message}" for n in plan.notes]
    assert "gate: Sigmoid: sigmoid is not centred: it gates another signal" in messages
    assert "out: Sigmoid: sigmoid is not centred: it is an output of the model" in messages


def test_functions_in_call_are_noted():
    class Functional(keras.Model):
        def __init__(self):
            super().__init__()
            self.a, self.b = layers.Dense(32), layers.Dense(8)

        def call(self, x):
            return self.b(ops.relu(self.a(x)))

    plan = autoinit.plan(Functional(), (64, 32), center="activation")
    assert plan.centers == [] and any("center='bias'" in n.message for n in plan.notes)


def test_nested_models_and_names_that_occur_twice():
    class Pair(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.one, self.two = layers.Dense(32, "relu", name="same"), layers.Dense(32, "silu", name="same")

        def call(self, x):
            return self.two(self.one(x))

    inner = keras.Sequential(
        [keras.Input((32,)), Pair(name="pair"), layers.Dense(32, "gelu", name="last")], name="inner"
    )
    model = keras.Sequential([keras.Input((32,)), inner, layers.Dense(8)])
    assert [p for p, _ in places(model)] == ["inner/pair/same", "inner/pair/same#2", "inner/last"]
    plan = autoinit.initialize(model, (256, 32), center="activation")
    shifts = [layer.activation.shift for layer in (inner.layers[0].one, inner.layers[0].two, inner.layers[1])]
    assert shifts == [c.shift for c in plan.centers]


def test_mixed_precision():
    model = between(layers.Dense(32, activation="relu", dtype="mixed_bfloat16"), layers.ReLU(dtype="mixed_bfloat16"))
    autoinit.initialize(model, (256, 32), center="activation")
    assert keras.backend.standardize_dtype(model.layers[1](X).dtype) == "bfloat16"
    assert keras.backend.standardize_dtype(model.layers[2](X).dtype) == "bfloat16"


def test_a_shift_that_is_no_number_is_refused_and_nothing_changes():
    model = between(layers.ReLU())
    output = called(model, X)
    plan = autoinit.plan(model, (256, 32), center="activation")
    plan.centers[0].shift = float("inf")
    with pytest.raises(autoinit.AutoInitError, match="finite number"):
        plan.apply(model)
    assert type(model.layers[1]) is layers.ReLU
    np.testing.assert_array_equal(called(model, X), output)


def test_one_keras_function():
    """autoinit.centered: a registered activation, or a centred copy of a layer. Single precision: 1e-6."""
    relu = autoinit.centered(keras.activations.relu)
    assert isinstance(relu, Centered) and relu.shift == pytest.approx(RELU, abs=1e-6)
    assert isinstance(autoinit.centered(relu), Centered) and autoinit.centered(relu).shift == pytest.approx(
        RELU, abs=1e-6
    )
    layer = layers.LeakyReLU(negative_slope=0.5)
    made = autoinit.centered(layer)
    assert made.center_shift == pytest.approx(RELU / 2, abs=1e-6) and type(layer) is layers.LeakyReLU
    again = autoinit.centered(made)
    assert again.center_shift == pytest.approx(RELU / 2, abs=1e-6) and type(again) is type(made)
    function = autoinit.centered(lambda x: ops.relu(x), variance=4.0)
    assert function.shift == pytest.approx(2 * RELU, abs=1e-6)
    model = between(made)
    autoinit.initialize(model, (256, 32))
    assert called(model, X).shape == (16, 8)


def test_other_activations_are_not_taken_for_those_of_keras() -> None:
    """With Keras imported, a PyTorch module is centred as one, and an object that is called as a function."""
    torch = pytest.importorskip("torch")

    class Twice:
        def __call__(self, x):
            return 2.0 * np.maximum(x, 0.0)

    relu = autoinit.centered(torch.nn.ReLU())
    assert isinstance(relu, torch.nn.ReLU) and float(relu.center_shift) == pytest.approx(0.398942, abs=1e-6)
    assert autoinit.centered(Twice()).shift == pytest.approx(2 * 0.398942, abs=1e-5)
