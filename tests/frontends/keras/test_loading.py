"""Models as JSON and config dicts, and what strangers put into them."""

import json

import keras
import numpy as np
import pytest
from keras import layers
from keras.src.backend.common import global_state

import autoinit
import autoinit.keras
from autoinit.errors import ModelError


@keras.saving.register_keras_serializable("test_loading")
class Registered(layers.Layer):
    def call(self, x):
        return 2.0 * x


class Own(layers.Layer):
    def call(self, x):
        return 3.0 * x


def functional(*extra):
    inputs = x = keras.Input((16,))
    x = layers.Dense(32, "relu", name="first")(x)
    for layer in extra:
        x = layer(x)
    return keras.Model(inputs, layers.Dense(8, name="last")(x))


def sequential():
    return keras.Sequential([keras.Input((16,)), layers.Dense(32, "relu"), layers.Dense(8)])


@pytest.mark.parametrize("make", [functional, sequential])
@pytest.mark.parametrize(
    "form",
    [lambda m: m.to_json(), lambda m: json.loads(m.to_json()), lambda m: m.get_config()],
    ids=["json", "dict", "config"],
)
def test_all_forms_give_the_same_plan(make, form):
    model = make()
    wanted, found = autoinit.plan(model), autoinit.plan(form(model))
    assert [(p.name, p.action) for p in found.parameters] == [(p.name, p.action) for p in wanted.parameters]
    for a, b in zip(wanted.parameters, found.parameters, strict=True):
        assert [p.std for p in a.parts] == pytest.approx([p.std for p in b.parts])


def test_a_plan_of_json_applies_to_its_model():
    model = functional()
    model.compile("adam", "mse")
    autoinit.plan(model.to_json()).apply(model, seed=0)
    assert np.std(keras.ops.convert_to_numpy(model.get_layer("first").kernel)) == pytest.approx(0.25, rel=0.1)


def test_check_and_measure_take_forms_too():
    model = functional()
    assert autoinit.check(model.to_json()).weight_layers
    assert autoinit.measure(model.to_json(), (256, 16)).rows


def test_planning_a_config_needs_no_memory():
    """A terabyte of weights, described in a kilobyte."""
    config = json.loads(functional().to_json())
    last = config["config"]["layers"][2]
    last["config"]["units"] = 10**10
    last.pop("build_config", None)
    plan = autoinit.plan(config)
    assert plan["last/kernel"].shape == [32, 10**10]
    keras.layers.Dense(2)(keras.Input((2,)))  # and nothing waits to be allocated later


def test_initialize_needs_a_model():
    with pytest.raises(ModelError, match=r"autoinit\.keras\.load"):
        autoinit.initialize(functional().to_json())


def test_load_returns_models_as_they_are():
    model = functional()
    assert autoinit.keras.load(model) is model


def test_registered_and_given_classes():
    assert autoinit.plan(functional(Registered()).to_json()).weight_layers
    text = functional(Own()).to_json()
    model = autoinit.keras.load(text, custom_objects={"Own": Own})
    assert any(isinstance(layer, Own) for layer in model.layers)


def test_classes_of_other_modules_are_refused():
    config = json.loads(functional(Own()).to_json())
    part = next(p for p in config["config"]["layers"] if p["class_name"] == "Own")
    part["module"], part["class_name"] = "os", "system"
    with pytest.raises(ModelError, match="module 'os'") as error:
        autoinit.keras.load(config)
    assert "custom_objects" in str(error.value)


@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "globally unsafe"])
def test_code_is_refused_whatever_keras_is_set_to(unsafe):
    text = functional(layers.Lambda(lambda x: x * 2, output_shape=(32,), name="doubled")).to_json()
    before = global_state.get_global_attribute("safe_mode_saving")
    if unsafe:
        keras.config.enable_unsafe_deserialization()
    try:
        for entry in (autoinit.plan, autoinit.check, autoinit.keras.load, autoinit.AutoInit().initialize_model):
            with pytest.raises(ModelError, match="Python code") as error:
                entry(text)
            assert "allow_code=True" in str(error.value)
    finally:
        global_state.set_global_attribute("safe_mode_saving", before)


def test_code_can_be_allowed():
    text = functional(layers.Lambda(lambda x: x * 2, output_shape=(32,), name="doubled")).to_json()
    model = autoinit.keras.load(text, allow_code=True)
    assert autoinit.plan(model)["last/kernel"].parts


@pytest.mark.parametrize(
    "bad", ["hello", "{bad", "[1, 2]", '{"a": 1}', {"a": 1}, '{"class_name": "Nothing", "config": {}}']
)
def test_what_describes_no_model(bad):
    with pytest.raises(ModelError) as error:
        autoinit.plan(bad)
    assert "to fix" in str(error.value)
