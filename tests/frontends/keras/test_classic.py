"""The paper's class."""

import keras
import numpy as np
import pytest
from keras import layers

import autoinit
import autoinit.keras


def values(variable):
    return keras.ops.convert_to_numpy(variable)


def two_inputs():
    a, b = keras.Input((64,), name="a"), keras.Input((32,), name="b")
    x = layers.Dense(128, "relu", name="left")(a)
    y = layers.Dense(128, "tanh", name="right")(b)
    z = autoinit.keras.WeightedSum(name="sum")([x, y])
    return keras.Model([a, b], layers.Dense(16, name="head")(layers.Dropout(0.5, name="drop")(z)))


def test_in_place_and_with_estimates():
    model = two_inputs()
    model.compile("adam", "mse")
    optimizer = model.optimizer
    made, estimates = autoinit.AutoInit().initialize_model(model, return_estimates=True)
    assert made is model and model.optimizer is optimizer
    assert set(estimates) == {"left", "right", "sum", "drop", "head"}
    relu = (1 / (2 * np.pi) ** 0.5, 0.5 - 1 / (2 * np.pi))
    assert estimates["left"] == pytest.approx(relu, rel=0.02)
    mean, variance = estimates["sum"]
    assert mean == pytest.approx(relu[0], rel=0.02)
    assert variance == pytest.approx(relu[1] + 0.394294, rel=0.02)  # E[tanh(z)²]
    assert estimates["drop"] == pytest.approx((mean, variance + variance + mean**2), rel=1e-3)  # rate 1/2
    assert estimates["head"] == pytest.approx((0.0, 1.0), abs=1e-6)


def test_input_statistics_per_input():
    model = two_inputs()
    for mean, variance in (([0.5, 0.0], [4.0, 1.0]), ({"a": 0.5, "b": 0.0}, {"a": 4.0, "b": 1.0})):
        autoinit.AutoInit(input_data_mean=mean, input_data_var=variance, signal_variance=2.0).initialize_model(model)
        assert values(model.get_layer("left").kernel).std() == pytest.approx((2 / (64 * 4.25)) ** 0.5, rel=0.03)
        assert values(model.get_layer("right").kernel).std() == pytest.approx((2 / 32) ** 0.5, rel=0.03)


def test_constrained_weights_are_exact():
    config = {"distribution": "uniform", "constrain_weights": True}
    model = autoinit.AutoInit(config).initialize_model(two_inputs())
    for name, fan in (("left", 64), ("right", 32)):
        w = values(model.get_layer(name).kernel)
        assert w.std() == pytest.approx(fan**-0.5, rel=1e-5)
        assert abs(w.mean()) < 1e-7


def test_custom_estimators():
    class Halved(layers.Layer):
        def call(self, x):
            return x / 2

    inputs = keras.Input((64,))
    x = Halved(name="halved")(layers.Dense(256, name="first")(inputs))
    model = keras.Model(inputs, layers.Dense(256, name="head")(x))
    calls = []

    def estimator(layer, mean, variance):
        calls.append((layer.name, mean, variance))
        return mean / 2 + 1, variance / 4

    made = autoinit.AutoInit(custom_distribution_estimators={Halved: estimator})
    _, estimates = made.initialize_model(model, return_estimates=True)
    assert calls[0] == ("halved", 0.0, pytest.approx(1.0))
    assert estimates["halved"] == (1.0, pytest.approx(0.25))
    assert values(model.get_layer("head").kernel).std() == pytest.approx((256 * 1.25) ** -0.5, rel=0.02)


def test_json_and_config_give_new_models():
    model = two_inputs()
    before = values(model.get_layer("left").kernel).copy()
    for form in (model.to_json(), model.get_config()):
        made = autoinit.AutoInit().initialize_model(form)
        assert made is not model
        assert values(made.get_layer("left").kernel).std() == pytest.approx(1 / 8, rel=0.03)
    np.testing.assert_array_equal(values(model.get_layer("left").kernel), before)


def test_own_classes_come_with_custom_objects():
    class Twice(layers.Layer):
        def call(self, x):
            return 2 * x

    inputs = keras.Input((64,))
    text = keras.Model(inputs, layers.Dense(8, name="head")(Twice()(inputs))).to_json()
    made = autoinit.AutoInit().initialize_model(text, custom_objects={"Twice": Twice})
    assert values(made.get_layer("head").kernel).std() == pytest.approx(1 / 16, rel=0.15)


@pytest.mark.parametrize("config", [{"distribution": "cauchy"}, {"scale": 2}])
def test_wrong_configs(config):
    with pytest.raises(autoinit.AutoInitError, match="weight_init_config"):
        autoinit.AutoInit(config)


def test_weighted_sum_layer(tmp_path):
    layer = autoinit.keras.WeightedSum(initializer=keras.initializers.Constant(0.5))
    a, b = np.ones((2, 3), "float32"), np.full((2, 3), 3.0, "float32")
    np.testing.assert_allclose(values(layer([a, b])), 2.0)
    with pytest.raises(ValueError, match="at least two"):
        autoinit.keras.WeightedSum()(a)
    with pytest.raises(ValueError, match="one shape"):
        autoinit.keras.WeightedSum()([a, np.ones((2, 4), "float32")])
    model = two_inputs()
    model.save(tmp_path / "m.keras")
    assert keras.models.load_model(tmp_path / "m.keras").get_layer("sum").terms.shape == (2,)


def test_weighted_sum_is_accounted_as_it_is():
    a, b = keras.Input((64,)), keras.Input((64,))
    layer = autoinit.keras.WeightedSum(name="sum")
    model = keras.Model([a, b], layers.Dense(64, name="head")(layer([a, b])))
    layer.terms.assign([3.0, -4.0])
    plan = autoinit.plan(model)
    assert plan["sum/terms"].action == "kept"
    assert plan["head/kernel"].parts[0].std == pytest.approx((64 * 25) ** -0.5, rel=1e-6)
