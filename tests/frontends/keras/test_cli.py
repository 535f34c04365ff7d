"""The command `autoinit` on Keras models."""

import keras
import numpy as np
import pytest
from keras import layers
from typer.testing import CliRunner

import autoinit
from autoinit.cli.app import app


def run(*words):
    return CliRunner().invoke(app, [str(w) for w in words])


@pytest.fixture
def model_json(tmp_path):
    inputs = keras.Input((16,))
    model = keras.Model(inputs, layers.Dense(4, name="out")(layers.Dense(32, "relu", name="in")(inputs)))
    (tmp_path / "model.json").write_text(model.to_json())
    return tmp_path / "model.json"


@pytest.mark.one_backend
def test_an_application_by_name():
    found = run("plan", "keras:MobileNetV2", "--batch", "2", "--input", "224x224x3")
    assert found.exit_code == 0, found.output
    assert "53 weight layers" in found.stdout


def test_a_json_file(model_json):
    found = run("check", model_json, "--fail-on", "bad")
    assert found.exit_code == 0, found.output
    assert "2 weight layers" in found.stdout


@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5", "model.safetensors"])
def test_weights_are_written(model_json, name):
    path = model_json.parent / name
    found = run("init", model_json, "--output", path, "--seed", "3")
    assert found.exit_code == 0, found.output
    wanted = autoinit.keras.load(model_json.read_text())
    autoinit.initialize(wanted, seed=3)
    if name.endswith(".safetensors"):
        from safetensors.numpy import load_file

        values = load_file(path)["in/kernel"]
    else:
        made = keras.models.load_model(path) if name.endswith(".keras") else autoinit.keras.load(model_json.read_text())
        if name.endswith(".h5"):
            made.load_weights(path)
        values = keras.ops.convert_to_numpy(made.get_layer("in").kernel)
    np.testing.assert_array_equal(values, keras.ops.convert_to_numpy(wanted.get_layer("in").kernel))
