"""Rules of the user's own, for Keras layers and functions."""

from __future__ import annotations

import keras
import pytest
from keras import layers, ops

import autoinit


class Doubled(layers.Layer):
    def call(self, x):
        return ops.sort(x, axis=-1) * 2.0


class Tripled(Doubled):
    pass


def strange(x):
    """A function that rules can be given for."""
    return ops.sort(x, axis=-1) * 3.0


class UsesStrange(layers.Layer):
    def call(self, x):
        return strange(x)


def chain(layer):
    inputs = keras.Input((32,))
    return keras.Model(inputs, layers.Dense(32, name="after")(layer(layers.Dense(32, name="before")(inputs))))


def node_after(plan, module, op):
    return next(t for t in plan.tensors if t.module == module and t.op == op)


def test_a_rule_for_a_layer():
    plan = autoinit.plan(chain(Doubled(name="own")), rules={Doubled: lambda layer, x: x.scaled(2.0)})
    assert node_after(plan, "own", "Doubled").variance == pytest.approx(4.0, rel=1e-6)
    assert not [n for n in plan.notes if n.kind in ("simulated", "passed")]
    std = next(p.std for p in plan.parameters if p.name == "after/kernel")
    assert std == pytest.approx((1 / (32 * 4.0)) ** 0.5, rel=0.05)


def test_a_rule_holds_for_subclasses():
    plan = autoinit.plan(chain(Tripled(name="own")), rules={Doubled: lambda layer, x: x.scaled(2.0)})
    assert node_after(plan, "own", "Tripled").variance == pytest.approx(4.0, rel=1e-6)


def test_a_registered_rule():
    @autoinit.rule(Doubled)
    def doubled(layer, x):
        assert isinstance(layer, Doubled)
        return x.scaled(5.0)

    try:
        plan = autoinit.plan(chain(Doubled(name="own")))
        assert node_after(plan, "own", "Doubled").variance == pytest.approx(25.0, rel=1e-6)
    finally:
        autoinit.forget_rule(Doubled)


def test_a_rule_for_a_function():
    plan = autoinit.plan(chain(UsesStrange(name="own")), rules={strange: lambda function, x: x.scaled(3.0)})
    assert node_after(plan, "own", "strange").variance == pytest.approx(9.0, rel=1e-6)
    assert not [n for n in plan.notes if n.kind in ("simulated", "passed")]


def test_a_rule_for_a_library_layer_wins():
    plan = autoinit.plan(chain(layers.ReLU(name="own")), rules={layers.ReLU: lambda layer, x: x.scaled(0.5)})
    assert node_after(plan, "own", "ReLU").variance == pytest.approx(0.25, rel=1e-6)


def test_a_rule_for_a_layer_with_weights_leaves_them():
    plan = autoinit.plan(chain(layers.Dense(32, name="own")), rules={layers.Dense: lambda layer, x: x})
    assert set(plan.unreached()) == {f"{m}/{w}" for m in ("before", "own", "after") for w in ("kernel", "bias")}


def test_without_a_rule_it_is_simulated_and_said():
    plan = autoinit.plan(chain(Doubled(name="own")))
    assert any("own" in note.place for note in plan.notes if note.kind == "simulated") or not plan.warnings
    assert node_after(plan, "own", "Multiply").variance == pytest.approx(4.0, rel=0.2)
