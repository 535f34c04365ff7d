"""Quotients that moments cannot tell are measured on samples of the real ops, from the last weights on."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import autoinit
from autoinit.core.dependence import sampling_fallback as retrace
from autoinit.frontends.custom import CustomRules
from autoinit.frontends.keras.walk import walk


class Share(keras.Model):
    """a / (a + b) of two positive tensors: between 0 and 1, whatever their moments."""

    def __init__(self):
        super().__init__()
        self.inner = layers.Dense(64, name="inner")
        self.outer = layers.Dense(64, name="outer")

    def call(self, x):
        y = ops.softplus(self.inner(x)) + 1e-4
        a, b = y[:, :32], y[:, 32:]
        return self.outer(ops.log(a / (a + b)))


class Spline(keras.Model):
    """Divides by the bin widths that neighbouring knots are apart: positive by construction."""

    def __init__(self):
        super().__init__()
        self.inner = layers.Dense(20, name="inner")
        self.outer = layers.Dense(64, name="outer")

    def call(self, x):
        w, h = ops.split(self.inner(x), 2, axis=-1)
        return self.outer(self.knots(h) / self.knots(w))

    def knots(self, logits):
        edges = ops.pad(ops.cumsum(ops.softmax(2 * logits, -1) + 1e-3, -1), [(0, 0), (1, 0)])
        edges = 10 * edges - 5
        return edges[..., 1:] - edges[..., :-1]


@pytest.mark.parametrize("model", [Share, Spline])
def test_quotients_meet_what_is_measured(model):
    net = model()
    plan = autoinit.plan(net, (512, 64))
    ratios = []
    for seed in range(8):
        plan.apply(net, seed=seed)
        measured = autoinit.measure(net, (512, 64), seed=seed)
        ratios += [row.variance for row in measured.rows if row.predicted.weight == "outer/kernel"]
    assert len(ratios) == 8
    assert 0.8 < np.median(ratios) < 1.25, ratios


def test_the_plan_says_what_was_simulated_and_why():
    plan = autoinit.plan(Share(), (64, 64))
    notes = [n for n in plan.notes if n.kind == "simulated"]
    assert notes and notes[0].place == "(root): TrueDivide" and "divisor" in notes[0].message
    assert {t.status for t in plan.tensors if t.op == "TrueDivide"} == {"simulated"}
    assert {t.status for t in plan.tensors if t.weight} == {"rule"}  # weights end it


def test_a_plan_is_the_same_every_time():
    net = Spline()
    first, second = (autoinit.plan(net, (64, 64)) for _ in range(2))
    assert [t.variance for t in first.tensors] == [t.variance for t in second.tensors]


def test_beyond_the_budget_the_rules_go_on(monkeypatch):
    monkeypatch.setattr(retrace, "BUDGET", 10)
    plan = autoinit.plan(Share(), (64, 64))
    assert not [n for n in plan.notes if n.kind == "simulated"]
    assert all(t.variance == t.variance for t in plan.tensors)


def test_without_memory_nothing_is_needed():
    """Parameters whose initialization is deferred have no values; data between weights needs none."""
    with keras.StatelessScope(initialize_variables=False):
        net = Share()
        net(keras.Input((64,)))
    plan = autoinit.plan(net, (64, 64))
    assert any(n.kind == "simulated" for n in plan.notes)
    assert net.inner.kernel._value is None


def test_gains_and_masks_between_weights_are_real():
    """What lies between is run with its own values: a frozen gain, a table of integers."""

    class Gained(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = layers.Dense(32), layers.Dense(16, name="outer")
            self.gain = self.add_weight(shape=(32,), initializer=keras.initializers.Constant(3.0), name="gain")

        def call(self, x):
            a = ops.exp(self.inner(x))
            order = ops.flip(ops.arange(32))
            return self.outer(self.gain * a / (a + ops.take(a, order, axis=-1)))

    plan = autoinit.plan(Gained(), (256, 64))
    row = next(t for t in plan.tensors if t.op in ("TrueDivide", "Divide"))
    assert row.status == "simulated" and abs(row.mean - 1.5) < 0.1  # a / (a + b) is 1/2 on average


def test_a_safe_quotient_needs_no_samples():
    x = keras.Input((8,))
    y = layers.Dense(8)(x) / (2 + ops.tanh(layers.Dense(8)(x)))
    plan = autoinit.plan(keras.Model(x, y), (16, 8))
    assert not [n for n in plan.notes if n.kind == "simulated"]


def test_weights_end_it_in_models_of_tokens():
    """A table of words is a parameter, but what is looked up in it is data: layers after it are starts."""
    tokens = keras.Input((12,), dtype="int32")
    x = layers.Embedding(50, 32)(tokens)
    a, b = ops.split(ops.softplus(layers.Dense(32, name="inner")(x)), 2, axis=-1)
    y = layers.Dense(8, name="outer")(a / (a + b))
    model = keras.Model(tokens, y)
    plan = autoinit.plan(model, (16, 12))
    divided = next(t for t in plan.tensors if t.op in ("TrueDivide", "Divide"))
    assert divided.status == "simulated" and abs(divided.mean - 0.5) < 0.02
    graph = walk(model, (16, 12), True, CustomRules()).graph
    made = [node.outputs[0] for node in graph.nodes if node.op in ("embedding", "linear")]
    assert len(made) == 3 and all(graph.ancestry.starts(value) for value in made)
