"""Recurrent layers: what they put out after `initialize`, and that the layer behind them comes out at 1."""

from __future__ import annotations

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402

from .measuring import array, functional, near  # noqa: E402

STEPS, FEATURES, UNITS = 6, 24, 32
LAYERS = {
    "LSTM": lambda: layers.LSTM(UNITS, return_sequences=True),
    "LSTM last": lambda: layers.LSTM(UNITS),
    "LSTM relu": lambda: layers.LSTM(UNITS, activation="relu", recurrent_activation="hard_sigmoid"),
    "LSTM without forget bias": lambda: layers.LSTM(UNITS, unit_forget_bias=False, return_sequences=True),
    "LSTM backwards": lambda: layers.LSTM(UNITS, go_backwards=True, return_sequences=True),
    "LSTM dropout": lambda: layers.LSTM(UNITS, dropout=0.3, recurrent_dropout=0.2, return_sequences=True),
    "GRU": lambda: layers.GRU(UNITS, return_sequences=True),
    "GRU last": lambda: layers.GRU(UNITS),
    "GRU reset before": lambda: layers.GRU(UNITS, reset_after=False, return_sequences=True),
    "GRU without bias": lambda: layers.GRU(UNITS, use_bias=False, return_sequences=True),
    "SimpleRNN": lambda: layers.SimpleRNN(UNITS, return_sequences=True),
    "SimpleRNN relu": lambda: layers.SimpleRNN(UNITS, activation="relu", return_sequences=True),
    "SimpleRNN last": lambda: layers.SimpleRNN(UNITS),
    "Bidirectional": lambda: layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True)),
    "Bidirectional sum": lambda: layers.Bidirectional(layers.GRU(UNITS), merge_mode="sum"),
    "Bidirectional mul": lambda: layers.Bidirectional(layers.GRU(UNITS, return_sequences=True), merge_mode="mul"),
    "RNN of a cell": lambda: layers.RNN(layers.LSTMCell(UNITS), return_sequences=True),
    "RNN of cells": lambda: layers.RNN([layers.GRUCell(UNITS), layers.LSTMCell(UNITS)], return_sequences=True),
}


def second_moments(model, plan, given: Input, seeds: int) -> list[float]:
    rng = np.random.default_rng(0)
    found = []
    for seed in range(seeds):
        plan.apply(model, seed=seed)
        keras.utils.set_random_seed(seed)
        y = model(given.sample(rng).astype("float32"), training=True)
        found.append(float(np.square(array(keras.tree.flatten(y)[0])).mean()))
    return found


EVERYWHERE = ("LSTM", "LSTM last", "LSTM backwards", "LSTM dropout", "GRU", "GRU reset before", "SimpleRNN",
              "Bidirectional", "RNN of a cell")  # fmt: skip
"""What backends have code of their own for; the others differ in what the layer, or the rule, does with it."""


@pytest.mark.parametrize("name, mean, variance", [
    *((name, 0.5, 3.0) for name in EVERYWHERE),
    *(pytest.param(name, 0.5, 3.0, marks=pytest.mark.one_backend) for name in LAYERS if name not in EVERYWHERE),
    *(pytest.param(name, 0.0, 1.0, marks=pytest.mark.one_backend) for name in ("LSTM", "GRU", "SimpleRNN")),
])  # fmt: skip
def test_recurrent_layer(name: str, mean: float, variance: float) -> None:
    """Predicted on a simulated cell (10 %: three draws of its weights), measured over six draws of the real one."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((STEPS, FEATURES)), LAYERS[name]()])
    given = Input((32, STEPS, FEATURES), mean=mean, variance=variance)
    plan = autoinit.plan(model, given)
    assert not plan.unreached()
    assert not [n for n in plan.notes if n.kind in ("passed", "warning", "simulated")]
    row = plan.tensors[plan.outputs[0]]
    near(second_moments(model, plan, given, 6), row.second, 0.1 * row.second, name)


@pytest.mark.parametrize("name", ["LSTM", "GRU reset before", "SimpleRNN"])
def test_scheme(name: str) -> None:
    """Orthogonal recurrence gate by gate, Glorot inputs, zero biases but for the forget gate of an LSTM."""
    model = keras.Sequential([keras.Input((STEPS, FEATURES)), LAYERS[name]()])
    autoinit.initialize(model, Input((8, STEPS, FEATURES)), seed=1)
    kernel, recurrent, bias = (array(v) for v in model.trainable_variables)
    for part in np.split(recurrent, recurrent.shape[1] // UNITS, axis=1):
        assert np.allclose(part.T @ part, np.eye(UNITS), atol=1e-5)
    assert kernel.std() == pytest.approx((2 / (FEATURES + UNITS)) ** 0.5, rel=0.05)
    expected = np.zeros(bias.shape)
    if name == "LSTM":
        expected[UNITS : 2 * UNITS] = 1.0
    assert np.array_equal(bias, expected)


def test_gates_of_kept_gru_weights() -> None:
    """The update gate comes first in Keras: a large bias there freezes the state."""
    values = []
    for gate in (0, 1):
        model = keras.Sequential([keras.Input((STEPS, FEATURES)), layers.GRU(UNITS, return_sequences=True)])
        bias = np.zeros((2, 3 * UNITS))
        bias[0, gate * UNITS : (gate + 1) * UNITS] = 3.0
        model.trainable_variables[2].assign(bias)
        given = Input((64, STEPS, FEATURES))
        plan = autoinit.check(model, given)
        row = plan.tensors[plan.outputs[0]]
        y = array(model(given.sample(np.random.default_rng(0)).astype("float32")))
        assert row.second == pytest.approx(np.square(y).mean(), rel=0.15)
        values.append(row.second)
    assert values[0] < 0.3 * values[1]


def test_states_in_and_out() -> None:
    """An encoder hands its states to a decoder; the layer behind it comes out at 1."""

    def build(x):
        _, h, c = layers.LSTM(UNITS, return_state=True)(x)
        y = layers.LSTM(UNITS, return_sequences=True)(x, initial_state=[h, c])
        return layers.Dense(16)(y)

    model = functional(build, (STEPS, FEATURES))
    given = Input((32, STEPS, FEATURES))
    plan = autoinit.plan(model, given)
    assert not plan.unreached()
    near(second_moments(model, plan, given, 8), 1.0, 0.12, "dense behind two recurrent layers")


def test_cell_as_a_layer() -> None:
    """One step of a cell by hand."""

    def build(x):
        h = layers.Dense(UNITS)(x)
        y, _ = layers.GRUCell(UNITS)(x, [h])
        return y

    model = functional(build, (FEATURES,))
    given = Input((256, FEATURES))
    plan = autoinit.plan(model, given)
    row = plan.tensors[plan.outputs[0]]
    near(second_moments(model, plan, given, 6), row.second, 0.1 * row.second, "one step")
