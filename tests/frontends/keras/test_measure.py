"""Measured beside predicted."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

import autoinit
from autoinit.frontends.keras.variables import as_array

from .models import MODELS


def test_rows_meet():
    model, _ = MODELS["convolutions"]()
    autoinit.initialize(model)
    measured = autoinit.measure(model)
    rows = [t for t in measured.plan.weight_layers if t.call]  # a separable convolution is two layers in one operation
    assert [r.predicted for r in measured.weight_layers] == rows
    assert len(measured.rows) >= 0.9 * sum(t.call > 0 for t in measured.plan.tensors)


@pytest.mark.parametrize("name", ["sequential_dense", "residual_with_norms", "transformer", "nested", "subclassed"])
def test_prediction_and_measurement_agree(name):
    model, inputs = MODELS[name]()
    inputs = inputs if inputs is None else (64, *inputs[1:])
    autoinit.initialize(model, inputs)
    measured = autoinit.measure(model, inputs, repeats=3)
    ratios = np.array([row.ratio for row in measured.rows if row.predicted.tensor_variance > 1e-3])
    assert len(ratios) > 4
    # widths of 4 to 16: one draw of the weights scatters around its expectation, which is what is predicted
    assert 0.5 < np.exp(np.median(np.log(ratios))) < 2.0
    assert np.mean((ratios > 0.3) & (ratios < 3.0)) > 0.85


def test_values_are_those_of_the_real_model():
    x = inputs = keras.Input((16,))
    x = layers.Dense(8, "relu", name="first")(x)
    model = keras.Model(inputs, layers.Dense(4, name="last")(x))
    batch = np.random.default_rng(0).normal(size=(32, 16)).astype("float32")
    measured = autoinit.measure(model, batch)
    row = [r for r in measured.rows if r.predicted.module == "last"][-1]
    y = as_array(model(batch))
    assert row.mean == pytest.approx(y.mean(), abs=1e-5) and row.variance == pytest.approx(y.var(), rel=1e-4)


def test_training_and_evaluation_differ():
    inputs = keras.Input((64,))
    model = keras.Model(inputs, layers.Dropout(0.5)(layers.Dense(64)(inputs)))
    autoinit.initialize(model)
    on = autoinit.measure(model, training=True).rows[-1]
    off = autoinit.measure(model, training=False).rows[-1]
    assert on.variance == pytest.approx(2 * off.variance, rel=0.2)
    assert on.ratio == pytest.approx(1.0, rel=0.3) and off.ratio == pytest.approx(1.0, rel=0.3)


def test_repeats_use_other_noise():
    model, _ = MODELS["sequential_dense"]()
    one, two = autoinit.measure(model, seed=0), autoinit.measure(model, seed=1)
    assert one.rows[1].variance != two.rows[1].variance
    again = autoinit.measure(model, seed=0)
    assert [r.variance for r in one.rows] == [r.variance for r in again.rows]


@pytest.mark.parametrize("name", ["residual_with_norms", "regularized", "recurrent"])
def test_measuring_changes_nothing(name):
    model, inputs = MODELS[name]()
    before = [np.array(as_array(v._value)) for v in model.variables]
    autoinit.measure(model, inputs)
    assert all(np.array_equal(a, as_array(v._value)) for a, v in zip(before, model.variables, strict=True))
    assert not any(layer._losses for layer in model._flatten_layers())


def test_check_describes_the_present_weights():
    keras.utils.set_random_seed(0)
    inputs = keras.Input((256,))
    x = inputs
    for _ in range(5):
        x = layers.Dense(256, "relu", kernel_initializer=keras.initializers.RandomNormal(0.0, 0.25))(x)
    model = keras.Model(inputs, x)
    measured = autoinit.measure(model)
    last = measured.weight_layers[-1]
    assert last.predicted.variance > 100  # each layer multiplies the variance by 256 / 16 / 2 = 8
    assert last.ratio == pytest.approx(1.0, rel=0.7)
    assert "Dense" in str(autoinit.check(model)) or "dense" in str(autoinit.check(model))
