"""The trace: what it records, that it is exact, and that the model does not notice."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from autoinit.frontends.custom import CustomRules
from autoinit.frontends.keras.measure import replayed
from autoinit.frontends.keras.variables import as_array
from autoinit.frontends.keras.walk import walk

from .models import MODELS


def traced(model, inputs=None, training=False):
    return walk(model, inputs, training, CustomRules())


def arguments(made, seed=0):
    rng = np.random.default_rng(seed)
    return [made.sample(leaf.position, rng) for leaf in made.leaves]


def called(model, made, values):
    """The model itself on the same tensors, arranged as it wants them."""
    functional = getattr(model, "_functional", None) or model
    struct = getattr(functional, "_inputs_struct", None)
    packed = values[0] if struct is None else keras.tree.pack_sequence_as(struct, values)
    return [as_array(t) for t in keras.tree.flatten(model(packed, training=False))]


@pytest.mark.parametrize("name", sorted(MODELS))
def test_replaying_the_tape_is_the_model(name):
    keras.utils.set_random_seed(0)
    model, inputs = MODELS[name]()
    made = traced(model, inputs)
    expected = called(model, made, arguments(made))
    found = [as_array(t) for t in replayed(made, model, 0)]
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * max(1.0, float(np.abs(b).max())))


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"native_code"}))
def test_every_weight_is_met(name):
    model, inputs = MODELS[name]()
    made = traced(model, inputs, training=True)
    met = {r.name for node in made.graph.nodes for r in node.inputs if hasattr(r, "stride")}
    assert met == set(made.graph.parameters)
