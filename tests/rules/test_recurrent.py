"""Recurrent layers: the simulated moments against torch's layers, initialised by the same scheme.

Both sides are averages over a few draws of weights, so the tolerance is 8 % of E[y^2] beside the standard
error.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import autoinit.rules.recurrent as recurrent
from autoinit.core.graph.graph import Node, Value
from autoinit.core.signal.signal import constant

from .harness import FakeContext, compare, components, measure

LAYERS = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN, "relu": nn.RNN}
GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def build(kind, inputs, hidden, **options):
    extra = {"nonlinearity": kind} if kind in ("tanh", "relu") else {}
    return LAYERS[kind](inputs, hidden, dtype=torch.float64, **extra, **options)


def initialise(layer, kind):
    """Glorot uniform inputs, orthogonal recurrence, zero biases but for the forget gate."""
    gates = GATES[kind]
    for name, p in layer.named_parameters():
        parts = p.data.chunk(gates) if "hr" not in name else [p.data]
        for g, part in enumerate(parts):
            if "weight_ih" in name:
                bound = (6.0 / (part.shape[0] + part.shape[1])) ** 0.5
                part.uniform_(-bound, bound)
            elif "weight" in name:
                nn.init.orthogonal_(part)
            else:
                part.fill_(1.0 if kind == "lstm" and g == 1 and "bias_ih" in name else 0.0)


def call(layer, kind, x, kept=False):
    """The rule's answer for a torch layer."""
    order = [getattr(layer, name) for names in layer._all_weights for name in names]
    states = 2 if kind == "lstm" else 1
    directions = 2 if layer.bidirectional else 1
    rows = layer.num_layers * directions
    batch = x.shape[0] if layer.batch_first else x.shape[1]
    recurs = layer.proj_size or layer.hidden_size
    start = [constant((rows, batch, n), 0.0) for n in (recurs, layer.hidden_size)[:states]]
    inputs = [
        Value(0, x.shape),
        *(Value(1, s.shape) for s in start),
        *(Value(2, tuple(p.shape)) for p in order),
    ]
    steps = x.shape[1] if layer.batch_first else x.shape[0]
    first = (batch, steps) if layer.batch_first else (steps, batch)
    outputs = [Value(9, (*first, recurs * directions))] + [Value(9, s.shape) for s in start]
    node = Node(
        "recurrent",
        tuple(inputs),
        tuple(outputs),
        {
            "kind": kind,
            "layers": layer.num_layers,
            "bidirectional": layer.bidirectional,
            "states": states,
            "batch_first": layer.batch_first,
            "has_bias": layer.bias,
            "dropout": layer.dropout,
            "projected": layer.proj_size > 0,
        },
    )
    arrays = {1 + states + i: p.detach().numpy() for i, p in enumerate(order)}
    ctx = FakeContext(arrays, kept=list(arrays) if kept else ())
    return recurrent.recurrent(node, ctx, x, *start, *([None] * len(order)))


def against(kind, x, repeats=12, model_error=0.08, **options):
    layer = build(kind, x.shape[2], **options)
    predicted = call(layer, kind, x)

    def run(t):
        initialise(layer, kind)
        out, last = layer(t)
        return [out, *(last if isinstance(last, tuple) else (last,))]

    measured = measure([x], run, repeats)
    assert len(predicted) == len(measured)
    for answer, numbers in zip(predicted, measured, strict=True):
        assert answer.K.shape == numbers[2].shape
        compare(answer, numbers, model_error=model_error, mean_error=0.05)
    return predicted


INPUTS = [
    components((24, 20, 32), 0.0, {(0, 1, 2): 1.0}),
    components((24, 20, 32), 0.5, {(0, 1, 2): 0.6, (0, 2): 0.8}),
]


@pytest.mark.parametrize("kind", ["lstm", "gru", "tanh"])
@pytest.mark.parametrize("x", INPUTS)
def test_one_layer(kind, x):
    against(kind, x, hidden=48, batch_first=True)


def test_relu_recurrence():
    """An orthogonal ReLU recurrence adds up its inputs; the scatter between draws is large."""
    against("relu", INPUTS[0], hidden=48, batch_first=True, model_error=0.15)


def test_deep_bidirectional_and_time_first():
    x = components((20, 24, 32), 0.0, {(0, 1, 2): 1.0})
    made = against("lstm", x, hidden=40, num_layers=2, bidirectional=True)
    assert made[0].shape == (20, 24, 80) and made[1].shape == (4, 24, 40) and made[2].shape == (4, 24, 40)


def test_projection_and_dropout():
    against("lstm", INPUTS[0], hidden=48, proj_size=24, batch_first=True)
    against("gru", INPUTS[0], hidden=48, num_layers=2, dropout=0.5, batch_first=True)


def test_wider_and_longer_than_simulated():
    x = components((6, 110, 150), 0.0, {(0, 1, 2): 1.0})
    against("lstm", x, hidden=140, batch_first=True, repeats=6, model_error=0.12)


def test_weights_that_are_kept():
    """Torch's default weights (uniform, std 1/sqrt(3 H)) are described by their measured scale."""
    x = INPUTS[0]
    layer = build("gru", 32, 48, batch_first=True)
    predicted = call(layer, "gru", x, kept=True)

    def run(t):
        layer.reset_parameters()
        return list(layer(t))

    for answer, numbers in zip(predicted, measure([x], run, 12), strict=True):
        compare(answer, numbers, model_error=0.1, mean_error=0.06)


def test_the_profile_rises_from_the_initial_state():
    layer = build("lstm", 32, 48, batch_first=True)
    profile = call(layer, "lstm", INPUTS[0])[0].profiles[1]
    assert profile.shape == (20,) and profile[0] < 0.8 * profile[-1] and profile.mean() == pytest.approx(1.0)


def test_repeated_layers_are_simulated_once(monkeypatch):
    layer = build("tanh", 32, 50, batch_first=True)
    first = call(layer, "tanh", INPUTS[0])
    monkeypatch.setattr(recurrent, "simulate", lambda *a: pytest.fail("simulated again"))
    second = call(layer, "tanh", INPUTS[0])
    assert np.array_equal(first[0].K, second[0].K)
