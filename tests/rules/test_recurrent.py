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


def gru_by_gates(torch_layer: nn.GRU, x, flipped=False, shared=False, biases=(0.0, 0.0, 0.0)):
    """The rule's answer for a layer whose gates have operands of their own, all of them kept."""
    hidden = torch_layer.hidden_size
    parts = [p.detach().numpy() for names in torch_layer._all_weights
             for p in torch.cat([getattr(torch_layer, name).data for name in names[:2]], 1).chunk(3)]  # fmt: skip
    w_in, w_back = [p[:, : -hidden] for p in parts], [p[:, -hidden:] for p in parts]
    vectors = [np.full(hidden, b) for b in biases]
    arrays = dict(enumerate([*w_in, *w_back, *vectors], 2))
    values = [Value(2, a.shape) for a in arrays.values()]
    shape = (x.shape[0], x.shape[1], hidden)
    attrs = {"kind": "gru", "layers": 1, "bidirectional": False, "states": 1, "has_bias": True, "per_gate": True,
             "z_writes": flipped, "shared_gate": shared}  # fmt: skip
    inputs = (Value(0, x.shape), None, *values, None, None, None)
    node = Node("recurrent", inputs, (Value(9, shape),), attrs)
    return recurrent.recurrent(node, FakeContext(arrays, kept=list(arrays)), x)[0]


def test_gates_apart_are_gates_packed():
    layer, x = build("gru", 16, 24), components((12, 20, 16), 0.0, {(0, 1, 2): 0.7, (1,): 0.3})
    packed = nn.GRU(16, 24, dtype=torch.float64)
    packed.load_state_dict({k: v if "weight" in k else torch.zeros_like(v) for k, v in layer.state_dict().items()})
    wanted, found = call(packed, "gru", x, kept=True)[0], gru_by_gates(packed, x)
    assert (found.mean, found.K.tolist()) == (wanted.mean, wanted.K.tolist())


@pytest.mark.parametrize(("flipped", "shared"), [(True, False), (False, True)])
def test_other_gru_cells_against_their_equations(flipped, shared):
    """z for what is new instead of what is kept, with a bias that has a sign; and one gate for both."""
    steps, batch, inputs, hidden, bias = 20, 200, 16, 96, 1.0
    layer = nn.GRU(inputs, hidden, dtype=torch.float64)
    x, rng, found = components((steps, batch, inputs), 0.0, {(0, 1, 2): 1.0}), np.random.default_rng(0), []
    for _ in range(8):
        initialise(layer, "gru")
        w, u = (p.detach().numpy() for p in (layer.weight_ih_l0, layer.weight_hh_l0))
        h, seen = np.zeros((batch, hidden)), []
        for row in rng.standard_normal((steps, batch, inputs)):
            (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(row @ w.T, 3, -1), np.split(h @ u.T, 3, -1)
            z = 1.0 / (1.0 + np.exp(-(z_x + z_h + bias)))
            r = z if shared else 1.0 / (1.0 + np.exp(-(r_x + r_h)))
            n = np.tanh(n_x + r * n_h)
            h = (1.0 - z) * h + z * n if flipped else (1.0 - z) * n + z * h
            seen.append(h)
        found.append(np.square(seen).mean())
    made = gru_by_gates(layer, x, flipped, shared, (0.0, bias, 0.0))
    # 8 draws of 96 units against 3 of 96: each scatters by about 6 % (measured), so 12 % is three standard errors
    assert made.second / np.mean(found) == pytest.approx(1.0, abs=0.12)


def test_what_a_gate_gets_beside_its_bias_counts():
    x = components((12, 20, 16), 0.0, {(0, 1, 2): 1.0})
    layer = build("lstm", 16, 24)
    plain = call(layer, "lstm", x)[0]

    def with_number(forget, added):
        node_inputs = [Value(0, x.shape), None, None, *(Value(2, tuple(p.shape)) for p in layer.parameters())]
        attrs = {"kind": "lstm", "layers": 1, "bidirectional": False, "states": 2, "has_bias": True,
                 "forget_bias": forget, "added": added}  # fmt: skip
        node = Node("recurrent", tuple(node_inputs), (Value(9, (12, 20, 24)),), attrs)
        return recurrent.recurrent(node, FakeContext(), x)[0]

    same = with_number(0.0, (0.0, 1.0, 0.0, 0.0))
    assert same.K.tolist() == plain.K.tolist()
    assert with_number(0.0, (0.0, 3.0, 0.0, 0.0)).second > 1.1 * plain.second
