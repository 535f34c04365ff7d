"""Recurrent networks in PyTorch, in Keras (on any backend) and by `scan` in JAX: standard deviations equal to 1e-6."""

import pytest

pytest.importorskip("jax")

import jax
import keras
import torch
from jax import lax
from jax import numpy as jnp
from keras import layers as K
from torch import nn

import autoinit
from autoinit import Input

BATCH, STEPS, FEATURES, WIDTH = 32, 12, 20, 48
INPUTS = Input((BATCH, STEPS, FEATURES))
CELLS = {"LSTM": (nn.LSTM, K.LSTM, 4, 2), "GRU": (nn.GRU, K.GRU, 3, 1), "RNN": (nn.RNN, K.SimpleRNN, 1, 1)}
"""Of each kind the layer of PyTorch, that of Keras, how many gates it has and how many states."""


class Last(nn.Module):
    """What the last step says."""

    def __init__(self, cell, depth):
        super().__init__()
        self.stem, self.cell = nn.Linear(FEATURES, 24), cell(24, WIDTH, num_layers=depth, batch_first=True)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        return self.head(self.cell(torch.tanh(self.stem(x)))[0][:, -1])


def in_keras(cell, depth):
    inputs = keras.Input((STEPS, FEATURES))
    x = K.Dense(24, "tanh")(inputs)
    for k in range(depth):
        x = cell(WIDTH, return_sequences=k < depth - 1)(x)
    return keras.Model(inputs, K.Dense(10)(x))


def lstm(p, state, x):
    h, c = state
    i, f, g, o = jnp.split(x @ p["w"] + h @ p["u"] + p["b"], 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    h = jax.nn.sigmoid(o) * jnp.tanh(c)
    return (h, c), h


def gru(p, state, x):
    (h,) = state
    (a, new_a), (b, new_b) = (jnp.split(y, [2 * WIDTH], axis=-1) for y in (x @ p["w"] + p["b"], h @ p["u"]))
    r, z = jnp.split(jax.nn.sigmoid(a + b), 2, axis=-1)
    h = (1 - z) * jnp.tanh(new_a + r * new_b) + z * h
    return (h,), h


def rnn(p, state, x):
    h = jnp.tanh(x @ p["w"] + p["b"] + state[0] @ p["u"])
    return (h,), h


def in_jax(step, gates, states, depth):
    def function(p, x):
        x = jnp.tanh(x @ p["stem"]["w"] + p["stem"]["b"]).swapaxes(0, 1)
        for k in range(depth):
            start = (jnp.zeros((x.shape[1], WIDTH)),) * states
            x = lax.scan(lambda state, x, own=p[f"cell{k}"]: step(own, state, x), start, x)[1]
        return x[-1] @ p["head"]["w"] + p["head"]["b"]

    def array(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    params = {"stem": {"w": array(FEATURES, 24), "b": array(24)}, "head": {"w": array(WIDTH, 10), "b": array(10)}}
    for k in range(depth):
        params[f"cell{k}"] = {"w": array(WIDTH if k else 24, gates * WIDTH), "u": array(WIDTH, gates * WIDTH),
                              "b": array(gates * WIDTH)}  # fmt: skip
    return function, params


def weights(plan):
    """Of all matrices, part by part, in order of size."""
    return sorted(part.std for entry in plan.parameters if len(entry.shape) > 1 for part in entry.parts)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("kind, step", [("LSTM", lstm), ("GRU", gru), ("RNN", rnn)])
def test_three_frameworks_have_one_plan(kind, step, depth):
    of_torch, of_keras, gates, states = CELLS[kind]
    function, params = in_jax(step, gates, states, depth)
    plans = [
        autoinit.plan(Last(of_torch, depth), INPUTS),
        autoinit.plan(in_keras(of_keras, depth), INPUTS),
        autoinit.plan(function, INPUTS, params=params),
    ]
    one = plans[0]
    last = one.tensors[one.outputs[0]]
    assert len(weights(one)) == 2 + 2 * gates * depth
    for other in plans[1:]:
        assert not [n for n in other.notes if n.kind in ("passed", "simulated")]
        assert weights(other) == pytest.approx(weights(one), rel=1e-6)
        found = other.tensors[other.outputs[0]]
        assert (found.mean, found.variance) == pytest.approx((last.mean, last.variance), rel=1e-6, abs=1e-9)
