"""Writing a plan into a Keras model."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
from keras import layers

import autoinit
from autoinit.errors import PlanError
from autoinit.frontends.keras.variables import as_array

from .models import MODELS


def weights(model):
    return {v.path: np.array(as_array(v._value)) for v in model.variables}


def mlp(width=256, depth=4, activation="relu"):
    x = inputs = keras.Input((width,))
    for k in range(depth):
        x = layers.Dense(width, activation, name=f"hidden{k}")(x)
    return keras.Model(inputs, layers.Dense(width, name="head")(x))


def test_layers_come_out_at_the_wanted_variance():
    model = mlp(depth=6)
    autoinit.initialize(model, variance=2.0)
    x = np.random.default_rng(0).normal(size=(512, 256)).astype("float32")
    y = as_array(model(x))
    assert 1.4 < y.var() < 2.8  # six layers of width 256: a factor exp(+-2 sqrt(6 * 5 / 256))
    assert all(np.all(v == 0) for path, v in weights(model).items() if path.endswith("bias"))


@pytest.mark.one_backend
def test_variance_by_the_name_of_a_layer():
    plan = autoinit.plan(mlp(depth=1), variance={"head": 0.25, "*": 1.0})
    once, all_the_same = plan["head/kernel"].std, autoinit.plan(mlp(depth=1))["head/kernel"].std
    assert once == pytest.approx(all_the_same / 2) and not plan.notes


@pytest.mark.parametrize("distribution", ["truncated_normal", "normal", "uniform", "orthogonal"])
def test_distributions(distribution):
    model = mlp(depth=1)
    plan = autoinit.initialize(model, distribution=distribution)
    kernel = weights(model)["hidden0/kernel"]
    std = plan.parameters[0].std
    assert kernel.std() == pytest.approx(std, rel=4 / np.sqrt(2 * kernel.size))
    if distribution == "orthogonal":
        gram = kernel.T @ kernel
        np.testing.assert_allclose(gram, np.eye(256) * gram[0, 0], atol=1e-4)
    if distribution == "uniform":
        assert np.abs(kernel).max() <= std * 3**0.5 * (1 + 1e-6)


def test_the_same_seed_gives_the_same_weights_whatever_else_is_there():
    first, second = mlp(depth=2), mlp(depth=3)
    autoinit.initialize(first, seed=3)
    autoinit.initialize(second, seed=3)
    assert np.array_equal(weights(first)["hidden0/kernel"], weights(second)["hidden0/kernel"])
    autoinit.initialize(second, seed=4)
    assert not np.array_equal(weights(first)["hidden0/kernel"], weights(second)["hidden0/kernel"])


def test_objects_optimizer_and_compiled_functions_stay():
    model = mlp(width=16, depth=2)
    model.compile("adam", "mse")
    x = np.random.default_rng(0).normal(size=(32, 16)).astype("float32")
    model.fit(x, x, verbose=0)
    optimizer = model.optimizer
    slots = [as_array(v._value).copy() for v in optimizer.variables]
    before = [id(v) for v in model.weights]
    function, names = model.train_function, [v.path for v in model.weights]
    autoinit.initialize(model)
    assert model.optimizer is optimizer and model.train_function is function
    assert [id(v) for v in model.weights] == before and [v.path for v in model.weights] == names
    for old, variable in zip(slots, optimizer.variables, strict=True):
        assert np.array_equal(old, as_array(variable._value))
    model.fit(x, x, verbose=0)
    assert not np.allclose(as_array(optimizer.variables[-1]._value), slots[-1])
    np.testing.assert_allclose(model.predict(x, verbose=0), as_array(model(x)), rtol=1e-4, atol=1e-5)


def test_frozen_layers_are_not_touched():
    model = mlp(width=16, depth=3)
    model.get_layer("hidden0").trainable = False
    model.get_layer("hidden1").kernel.trainable = False
    before = weights(model)
    plan = autoinit.initialize(model)
    after = weights(model)
    for path in ("hidden0/kernel", "hidden0/bias", "hidden1/kernel"):
        assert np.array_equal(before[path], after[path])
    assert not np.array_equal(before["hidden2/kernel"], after["hidden2/kernel"])
    assert {p.name for p in plan.parameters if p.action == "kept"} >= {"hidden0/kernel", "hidden1/kernel"}


def test_state_is_not_touched():
    model, _ = MODELS["residual_with_norms"]()
    state = {v.path: np.array(as_array(v._value)) for v in model.non_trainable_variables}
    autoinit.initialize(model)
    for variable in model.non_trainable_variables:
        assert np.array_equal(state[variable.path], as_array(variable._value))


def test_a_plan_that_does_not_fit_changes_nothing():
    plan = autoinit.plan(mlp(width=16))
    model = mlp(width=16)
    other = mlp(width=8)
    before = weights(other)
    with pytest.raises(PlanError, match="another shape"):
        plan.apply(other)
    assert all(np.array_equal(before[k], v) for k, v in weights(other).items())
    with pytest.raises(PlanError, match="no parameter"):
        plan.apply(keras.Sequential([keras.Input((4,)), layers.Dense(2)]))
    with pytest.raises(PlanError, match="only describes"):
        autoinit.check(model).apply(model)


def test_a_saved_plan_applies(tmp_path):
    model = mlp(width=16)
    plan = autoinit.plan(model)
    plan.save(tmp_path / "plan.json")
    assert json.loads((tmp_path / "plan.json").read_text())["framework"] == "keras"
    autoinit.initialize(model)
    expected = weights(model)
    again = mlp(width=16)
    type(plan).load(tmp_path / "plan.json").apply(again)
    assert all(np.array_equal(expected[k], v) for k, v in weights(again).items())


def test_centred_biases_cancel_the_mean():
    model = mlp(width=128, depth=2)
    autoinit.initialize(model, center="bias")
    x = np.random.default_rng(0).normal(size=(2048, 128)).astype("float32")
    inner = keras.Model(model.inputs, model.get_layer("hidden0").output)
    hidden = as_array(inner([x]))
    kernel, bias = weights(model)["hidden1/kernel"], weights(model)["hidden1/bias"]
    before_activation = hidden @ kernel + bias
    assert np.abs(bias).max() > 0
    assert np.abs(before_activation.mean(axis=0)).mean() < 0.1 * np.abs((hidden @ kernel).mean(axis=0)).mean()


def test_low_rank_adapters():
    model = mlp(width=16, depth=2)
    model.get_layer("hidden0").enable_lora(2)
    before = {id(v): np.array(as_array(v._value)) for v in model.weights}
    plan = autoinit.initialize(model)
    layer = model.get_layer("hidden0")
    assert np.array_equal(before[id(layer._kernel)], as_array(layer._kernel._value))  # frozen by Keras
    assert np.all(as_array(layer.lora_kernel_b._value) == 0)  # zero on purpose
    assert not np.array_equal(before[id(model.get_layer("head").kernel)], weights(model)["head/kernel"])
    assert not plan.unreached()


def test_parameters_whose_values_do_not_exist_yet():
    from keras.src import backend

    with backend.StatelessScope(initialize_variables=False):
        model = mlp(width=16)
    assert model.get_layer("head").kernel._value is None
    autoinit.initialize(model)
    assert as_array(model(np.ones((2, 16), "float32"))).shape == (2, 16)
    assert weights(model)["head/kernel"].std() > 0
    with backend.StatelessScope():  # Keras initializes what is still pending when it leaves one
        pass


def test_mixed_precision_and_half_precision():
    inputs = keras.Input((64,))
    x = layers.Dense(64, "relu", dtype="mixed_float16", name="mixed")(inputs)
    model = keras.Model(inputs, layers.Dense(64, dtype="bfloat16", name="half")(x))
    autoinit.initialize(model)
    assert model.get_layer("mixed").kernel.dtype == "float32"
    assert model.get_layer("half").kernel.dtype == "bfloat16"
    y = as_array(model(np.random.default_rng(0).normal(size=(512, 64)))).astype("float32")
    assert 0.5 < y.var() < 2.0


def test_saving_and_loading_afterwards(tmp_path):
    model, _ = MODELS["residual_with_norms"]()
    autoinit.initialize(model)
    model.save(tmp_path / "model.keras")
    x = np.ones((2, 8, 8, 4), "float32")
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(as_array(again(x)), as_array(model(x)), rtol=1e-5, atol=1e-6)


def test_training_works_afterwards():
    inputs = keras.Input((8, 8, 1))
    x = layers.Conv2D(8, 3, activation="relu")(inputs)
    model = keras.Model(inputs, layers.Dense(2, "softmax")(layers.Flatten()(x)))
    autoinit.initialize(model)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(128, 8, 8, 1)).astype("float32")
    y = (x.mean(axis=(1, 2, 3)) > 0).astype("int32")
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, epochs=15, verbose=0).history
    assert history["accuracy"][-1] > 0.9
