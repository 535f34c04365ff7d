"""What may be given as inputs, and what is made of it."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers, ops

import autoinit
from autoinit import Input
from autoinit.errors import AutoInitError, InputError
from autoinit.frontends.custom import CustomRules
from autoinit.frontends.keras.walk import walk

from .models import MODELS


def dense(width=6):
    return keras.Sequential([keras.Input((width,)), layers.Dense(4)])


def entering(model, inputs=None):
    """(shape, mean, variance) of the model's floating inputs."""
    made = walk(model, inputs, True, CustomRules())
    return [(v.shape, made.signals[v.id].mean, made.signals[v.id].variance) for v, _ in made.graph.inputs]


def test_the_models_own_inputs():
    assert entering(dense()) == [((64, 6), 0.0, pytest.approx(1.0))]


@pytest.mark.parametrize("given", [(8, 6), [8, 6], Input((8, 6)), (None, 6)])
def test_shapes_and_descriptions(given):
    shape = (64, 6) if given == (None, 6) else (8, 6)
    assert entering(dense(), given) == [(shape, 0.0, pytest.approx(1.0))]


def test_statistics_of_a_description():
    assert entering(dense(), Input((8, 6), mean=3.0, variance=4.0)) == [((8, 6), 3.0, pytest.approx(4.0))]


def test_a_batch_is_measured():
    x = np.random.default_rng(0).normal(2.0, 3.0, size=(256, 6))
    tensor = ops.convert_to_tensor(x.astype("float32"))
    for given in (x, x.astype("float32"), tensor, [tensor]):
        [(shape, mean, variance)] = entering(dense(), given)
        assert shape == (256, 6)
        assert mean == pytest.approx(x.mean(), rel=1e-5) and variance == pytest.approx(x.var(), rel=1e-2)


def test_several_and_named_inputs():
    model, _ = MODELS["shared_layers"]()
    assert len(entering(model)) == 2
    assert [m for _, m, _ in entering(model, [Input((4, 8), mean=1.0), (4, 8)])] == [1.0, 0.0]
    model, _ = MODELS["dict_inputs_and_outputs"]()
    given = {"meta": Input((4, 5), mean=2.0), "image": (4, 8, 8, 3)}
    assert sorted(entering(model, given)) == [((4, 5), 2.0, pytest.approx(1)), ((4, 8, 8, 3), 0.0, pytest.approx(1))]


def test_several_positional_arguments():
    class Pair(keras.Model):
        def __init__(self):
            super().__init__()
            self.a, self.b = layers.Dense(3), layers.Dense(3)

        def call(self, query, value):
            return self.a(query) + self.b(value)

    model = Pair()
    assert [s for s, _, _ in entering(model, ((4, 5), (4, 6)))] == [(4, 5), (4, 6)]
    assert {s for s, _, _ in entering(model, {"value": (4, 6), "query": (4, 5)})} == {(4, 5), (4, 6)}
    attention = layers.MultiHeadAttention(2, 4)
    assert [s for s, _, _ in entering(attention, ((4, 5, 8), (4, 5, 8)))] == [(4, 5, 8), (4, 5, 8)]


def test_a_built_layer_knows_its_inputs():
    layer = layers.Dense(3)
    layer.build((None, 5))
    assert entering(layer) == [((64, 5), 0.0, pytest.approx(1.0))]


def test_an_unbuilt_model_needs_inputs_and_is_built():
    model = keras.Sequential([layers.Dense(3), layers.Dense(2)])
    with pytest.raises(InputError, match="does not say"):
        autoinit.plan(model)
    autoinit.initialize(model, (8, 5))
    assert model.built and model.layers[0].kernel.shape == (5, 3)
    model, inputs = MODELS["subclassed"]()
    plan = autoinit.initialize(model, inputs)
    assert plan.weight_layers and not plan.unreached()
    assert all(layer.built and not layer._inbound_nodes for layer in model.layers)


def test_integers_take_their_range_from_the_embedding():
    inputs = keras.Input((7,), dtype="int32")
    model = keras.Model(inputs, layers.Dense(2)(layers.Embedding(11, 4)(inputs)))
    made = walk(model, None, True, CustomRules())
    sample = np.asarray(made.sample(0, np.random.default_rng(0)))
    assert sample.min() == 0 and sample.max() == 10
    made = walk(model, Input((3, 7), vocabulary=5), True, CustomRules())
    assert np.asarray(made.sample(0, np.random.default_rng(0))).max() == 4
    ids = np.arange(14).reshape(2, 7) % 11
    assert np.array_equal(np.asarray(walk(model, ids, True, CustomRules()).sample(0, None)), ids)


def test_the_smaller_of_two_tables_counts():
    inputs = keras.Input((4,), dtype="int32")
    both = layers.Add()([layers.Embedding(9, 4)(inputs), layers.Embedding(5, 4)(inputs)])
    made = walk(keras.Model(inputs, layers.Dense(2)(both)), None, True, CustomRules())
    assert made.tracer.vocabularies == {0: 5}


def test_floating_inputs_that_are_indices():
    model = keras.Sequential([layers.Embedding(11, 4), layers.GlobalAveragePooling1D(), layers.Dense(2)])
    plan = autoinit.initialize(model, (8, 5))  # an unbuilt Sequential declares floats
    table = next(t for t in plan.tensors if t.module.startswith("embedding"))
    assert table.variance == pytest.approx(1.0)
    assert not plan.warnings


def test_one_hot_integers():
    inputs = keras.Input((4,), dtype="int32")
    model = keras.Model(inputs, layers.Dense(2)(ops.one_hot(inputs, 6)))
    assert walk(model, None, True, CustomRules()).tracer.vocabularies == {0: 6}


def test_integers_without_a_range_are_reported():
    inputs = keras.Input((4,), dtype="int32")
    model = keras.Model(inputs, layers.Dense(2)(ops.cast(inputs, "float32") / 10.0))
    assert any("how many values" in note.message for note in autoinit.plan(model).notes)


def test_images_of_bytes():
    model, _ = MODELS["preprocessing"]()
    plan = autoinit.initialize(model)
    x = np.random.default_rng(0).integers(0, 256, (256, 8, 8, 3)).astype("uint8")
    inner = keras.Model(model.inputs, next(la for la in model.layers if isinstance(la, layers.Conv2D)).output)
    assert np.asarray(keras.ops.convert_to_numpy(inner([x]))).var() == pytest.approx(1.0, rel=0.5)
    assert plan.weight_layers[0].variance == pytest.approx(1.0, rel=0.2)


def test_unknown_sizes_are_chosen_and_reported():
    model, _ = MODELS["unknown_sizes"]()
    plan = autoinit.plan(model)
    assert any("no fixed size" in note.message for note in plan.notes)
    assert entering(model)[0][0] == (64, 128, 128, 3)
    assert entering(model, (2, 40, 30, 3))[0][0] == (2, 40, 30, 3)


def test_a_static_batch_is_kept():
    model = keras.Model(i := keras.Input(batch_shape=(3, 5)), layers.Dense(2)(i))
    assert entering(model)[0][0] == (3, 5)


@pytest.mark.parametrize("given", [3, "text", 1.5, object(), Input((2, 6), dtype="nonsense")])
def test_nonsense_is_refused(given):
    with pytest.raises(InputError, match="to fix"):
        autoinit.plan(dense(), given)


def test_a_wrong_shape_is_refused_with_the_shapes():
    with pytest.raises(AutoInitError) as caught:
        autoinit.plan(dense(), (4, 7))
    assert "(4, 7)" in str(caught.value)


def test_nan_is_refused():
    x = np.ones((4, 6), "float32")
    x[0, 0] = np.nan
    with pytest.raises(InputError, match="NaN"):
        autoinit.plan(dense(), x)


def test_a_model_without_weights_is_refused():
    model = keras.Sequential([keras.Input((3,)), layers.ReLU()])
    with pytest.raises(AutoInitError, match="no parameters"):
        autoinit.plan(model)
