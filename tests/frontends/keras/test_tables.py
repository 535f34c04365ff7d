"""Tables that models make on the way: masks by subtraction, by comparison, by triangles; places computed from data."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import autoinit
from autoinit.frontends.custom import CustomRules
from autoinit.frontends.keras.lowering.triangles import shape_of_ones
from autoinit.frontends.keras.walk import walk


def rows(plan, op):
    return [t for t in plan.tensors if t.op == op]


def test_a_mask_that_is_subtracted_masks():
    """softmax(x - 1e9 (1 - mask)) with a causal mask: row i has i + 1 live entries, so E[p^2] is far from uniform."""
    x = keras.Input((16, 8))
    scores = ops.matmul(layers.Dense(8)(x), ops.transpose(layers.Dense(8)(x), (0, 2, 1)))
    mask = np.tril(np.ones((1, 16, 16), "float32"))
    y = ops.softmax(ops.subtract(0.01 * scores, ops.multiply(1.0 - mask, 1e9)))
    row = rows(autoinit.plan(keras.Model(x, y), (4, 16, 8)), "Softmax")[0]
    expected = np.mean([1 / (i + 1) for i in range(16)]) / 16  # E[p^2] of nearly equal live entries
    assert row.second == pytest.approx(expected, rel=0.02)


def test_a_comparison_with_a_number_is_an_operation():
    """Symbolic tensors compare identities; while a model is walked, x == 0 is asked entry by entry, as on real data."""

    class Chosen(keras.layers.Layer):
        def call(self, inputs):
            x, marks = inputs
            return ops.where(ops.expand_dims(marks == 1, -1), 10.0 * x, ops.where(marks[..., None] != 2, x, 0.0 * x))

    x, marks = keras.Input((6, 8)), keras.Input((6,), dtype="int32")
    y = Chosen()([layers.Dense(8)(x), marks])
    given = np.broadcast_to(np.array([1, 2, 0, 0, 0, 0], "int32"), (4, 6))
    plan = autoinit.plan(keras.Model([x, marks], y), [(4, 6, 8), given])
    assert rows(plan, "Where")[-1].second == pytest.approx((100 + 4) / 6, rel=1e-2)
    assert "__eq__" not in vars(keras.KerasTensor)


@pytest.mark.parametrize("k", [-2, 0, 3])
def test_triangles_are_recognised(k):
    ones = np.ones((5, 7))
    assert shape_of_ones(np.tril(ones, k)) == (True, k)
    assert shape_of_ones(np.triu(ones, k)) == (False, k)
    assert shape_of_ones(ones) is None and shape_of_ones(0 * ones) is None
    spoiled = np.tril(ones, k)
    spoiled[-1, -1] = 1 - spoiled[-1, -1]
    assert shape_of_ones(spoiled) is None
    assert shape_of_ones(2 * np.tril(ones, k)) is None


def test_a_table_of_ones_cuts_out_a_triangle():
    x = keras.Input((8, 8))
    y = ops.multiply(layers.Dense(8)(x), np.tril(np.ones((8, 8), "float32")))
    model = keras.Model(x, y)
    graph = walk(model, (4, 8, 8), True, CustomRules()).graph
    assert graph.nodes[-1].op == "triangle" and graph.nodes[-1].attrs["lower"]
    assert autoinit.plan(model, (4, 8, 8)).tensors[-1].second == pytest.approx(36 / 64, rel=1e-6)


def test_places_that_depend_on_weights_are_sampled_while_walking():
    """Indices that a layer computes from its weights: the sample runs the real layers, and is not recorded itself."""

    class Picks(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.score, self.value = layers.Dense(1), layers.Dense(8)

        def call(self, x):
            best = ops.argmax(self.score(x)[..., 0], axis=-1)
            return ops.take(self.value(x), best, axis=1)

    x = keras.Input((6, 8))
    model = keras.Model(x, Picks()(x))
    made = walk(model, (4, 6, 8), True, CustomRules())
    assert len(made.tracer.tape.entries) < 20
    assert autoinit.plan(model, (4, 6, 8)).tensors[-1].second == pytest.approx(1.0, rel=1e-2)
