"""The trace: what it records, that it is exact, and that the model does not notice."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers, ops

from autoinit.errors import AutoInitError
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


def names_met(made):
    return [(node.module, node.label, node.call) for node in made.graph.nodes]


def test_paths_are_nested_names():
    made = traced(MODELS["nested"]()[0])
    modules = {module for module, _, _ in names_met(made)}
    assert {"middle/inner/up", "middle/inner/down", "middle/second/up", "head"} <= modules


def test_names_say_where_a_parameter_is():
    x = inputs = keras.Input((4,))
    for k in range(2):
        inner = keras.Input((4,))
        x = keras.Model(inner, layers.Dense(4, name="same")(inner), name=f"part{k}")(x)
    made = traced(keras.Model(inputs, x))
    assert list(made.graph.parameters) == [f"part{k}/same/{name}" for k in (0, 1) for name in ("kernel", "bias")]


def test_equal_names_are_numbered():
    class Twins(layers.Layer):
        def __init__(self):
            super().__init__()
            self.one, self.two = (layers.Dense(4, name="same", use_bias=False) for _ in range(2))

        def call(self, x):
            return self.two(self.one(x))

    inputs = keras.Input((4,))
    made = traced(keras.Model(inputs, Twins()(inputs)))
    assert list(made.graph.parameters) == ["twins/same/kernel", "twins/same/kernel#2"]


def test_calls_of_a_shared_layer_are_counted():
    made = traced(MODELS["shared_layers"]()[0])
    calls = [call for module, _, call in names_met(made) if module == "shared"]
    assert {1, 2, 3} <= set(calls)


def state(model):
    """Everything of a model that a trace could change."""
    from autoinit.frontends.keras.variables import layers_in_order

    parts = [layer for layer, _ in layers_in_order(model)]
    return {
        "values": [as_array(v._value).tolist() for v in model.variables],
        "identity": [id(v) for v in model.variables],
        "flags": [(layer.name, layer.built, layer._called, layer.trainable) for layer in parts],
        "nodes": [(len(layer._inbound_nodes), len(layer._outbound_nodes)) for layer in parts],
        "losses": [len(layer._losses) for layer in parts],
        "attributes": [sorted(vars(layer)) for layer in parts],
    }


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"unbuilt_sequential", "subclassed", "layers_in_containers"}))
def test_the_model_does_not_notice(name):
    model, inputs = MODELS[name]()
    before = state(model)
    traced(model, inputs, training=True)
    assert state(model) == before


def test_keras_is_as_before():
    from keras.src import backend
    from keras.src.backend.common.stateless_scope import in_stateless_scope

    before = {k: v for k, v in vars(backend.nn).items() if callable(v)}, vars(keras.Operation)["__call__"]
    traced(MODELS["transformer"]()[0])
    with pytest.raises(AutoInitError):
        traced(MODELS["sequential_dense"]()[0], (4, 7))
    assert before == ({k: v for k, v in vars(backend.nn).items() if callable(v)}, vars(keras.Operation)["__call__"])
    assert not in_stateless_scope()


def test_names_of_later_layers_are_as_if_nothing_had_happened():
    model, _ = MODELS["ops_in_graph"]()
    first = layers.Add().name
    traced(model)
    second = layers.Add().name
    assert int(second.rsplit("_", 1)[1]) == (int(first.rsplit("_", 1)[1]) if "_" in first else 0) + 1


def test_losses_inside_a_layer_are_not_added():
    class WithLoss(layers.Layer):
        def call(self, x):
            self.add_loss(ops.mean(ops.square(x)))
            return x * 2.0

    inputs = keras.Input((4,))
    model = keras.Model(inputs, layers.Dense(2)(WithLoss()(inputs)))
    before = len(model.losses)
    assert traced(model).graph.nodes
    assert len(model.losses) == before


def test_layers_that_remember_things_forget_the_trace():
    class Remembers(layers.Layer):
        def __init__(self):
            super().__init__()
            self.seen, self.count, self.table = [], 0, {"last": None}

        def call(self, x):
            self.seen.append(x)
            self.count += 1
            self.table["last"] = x
            self.cache = x
            return x

    inputs = keras.Input((4,))
    layer = Remembers()
    model = keras.Model(inputs, layers.Dense(2)(layer(inputs)))
    layer(np.ones((1, 4), "float32"))
    before = [*layer.seen], layer.count, layer.table["last"], layer.cache
    traced(model)
    after = [*layer.seen], layer.count, layer.table["last"], layer.cache
    assert len(after[0]) == len(before[0]) and after[1] == before[1]
    assert after[2] is before[2] and after[3] is before[3]


def test_batch_norm_statistics_stay():
    model, _ = MODELS["residual_with_norms"]()
    norm = next(layer for layer in model.layers if isinstance(layer, layers.BatchNormalization))
    traced(model, training=True)
    assert np.all(as_array(norm.moving_mean._value) == 0)


def test_native_code_closes_one_layer_only():
    model, _ = MODELS["native_code"]()
    made = traced(model)
    opaque = [node for node in made.graph.nodes if node.op == "opaque"]
    assert [node.module for node in opaque] == ["native"]
    met = {r.name.split("/")[0] for node in made.graph.nodes for r in node.inputs if hasattr(r, "stride")}
    assert {"before", "after"} <= met and "native" not in met
    assert any("native" in note and "cannot be followed" in note for note in made.graph.notes)
    assert opaque[0].run([np.ones((64, 8))])[0].shape == (64, 8)


def test_native_functions_are_followed_where_the_framework_allows():
    model, _ = MODELS["native_functions"]()
    made = traced(model)
    entries = [entry.name for entry in made.tracer.tape.entries if entry.module.startswith("lambda")]
    assert entries == (["Lambda"] if keras.backend.backend() == "jax" else ["Sinh", "Add"])
    assert not hasattr(keras.KerasTensor, "__torch_function__")


@pytest.mark.skipif(keras.backend.backend() == "jax", reason="JAX lets nobody take part in its functions")
def test_a_native_function_without_counterpart_is_one_operation():
    def rolled(x):
        if keras.backend.backend() == "tensorflow":
            import tensorflow as tf

            return tf.roll(x, shift=1, axis=-1)
        import torch

        return torch.roll(x, 1, dims=-1)

    class Uses(layers.Layer):
        def build(self, shape):
            self.first = layers.Dense(8)
            self.first.build(shape)

        def call(self, x):
            return rolled(self.first(x)) * 2.0

    inputs = keras.Input((8,))
    model = keras.Model(inputs, Uses()(inputs))
    made = traced(model)
    assert [node.label for node in made.graph.nodes if node.op == "opaque"] == ["NativeRoll"]
    assert {r.name.split("/")[-1] for n in made.graph.nodes for r in n.inputs if hasattr(r, "stride")} >= {"kernel"}
    expected = called(model, made, arguments(made))[0]
    np.testing.assert_allclose(as_array(replayed(made, model, 0)[0]), expected, rtol=1e-5, atol=1e-6)


def test_writing_into_a_native_tensor_closes_the_layer():
    class Writes(layers.Layer):
        def call(self, x):
            out = ops.zeros((8, 4))
            if keras.backend.backend() == "torch":
                out[:, :2] = x[:, :2]
            else:
                out = ops.slice_update(out, (0, 0), x[:, :2])
            return out + ops.cast(ops.ndim(x) + ops.size(x), "float32")

        def compute_output_shape(self, shape):
            return shape

    inputs = keras.Input(batch_shape=(8, 4))
    model = keras.Model(inputs, layers.Dense(2)(Writes(name="writes")(inputs)))
    made = traced(model)
    closed = any(entry.name == "Writes" for entry in made.tracer.tape.entries)
    assert closed == (keras.backend.backend() == "torch")
    expected = called(model, made, arguments(made))[0]
    np.testing.assert_allclose(as_array(replayed(made, model, 0)[0]), expected, rtol=1e-5, atol=1e-5)


def test_a_failing_call_names_its_layer():
    class Broken(layers.Layer):
        def call(self, x):
            return ops.matmul(x, ops.ones((5, 3)))

    class Model(keras.Model):
        def __init__(self):
            super().__init__()
            self.first, self.broken = layers.Dense(5, name="first"), Broken(name="broken")

        def call(self, x):
            return self.broken(self.first(x)[:, :4])

    model = Model()
    model.first.build((None, 3))
    model.built = True
    with pytest.raises(AutoInitError, match="broken") as caught:
        traced(model, (2, 3))
    assert "to fix" in str(caught.value)


def test_weight_arithmetic_keeps_the_weight():
    class Transposed(layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(shape=(6, shape[-1]), name="kernel")

        def call(self, x):
            return ops.matmul(x, ops.transpose(self.kernel)) + ops.sum(self.kernel[:, 0] * 2.0)

    inputs = keras.Input((4,))
    made = traced(keras.Model(inputs, Transposed(name="t")(inputs)))
    views = [r for node in made.graph.nodes for r in node.inputs if hasattr(r, "stride")]
    assert all(view.name == "t/kernel" for view in views)
    assert {(1, 4), (4,)} <= {view.stride for view in views} | {view.stride[::-1] for view in views}


def test_control_flow_is_followed():
    class Loops(layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(shape[-1], shape[-1]), name="w")

        def call(self, x):
            x = ops.cond(ops.convert_to_tensor(True), lambda: ops.matmul(x, self.w), lambda: x)
            x = ops.fori_loop(0, 2, lambda i, y: ops.tanh(ops.matmul(y, self.w)), x)
            last, _ = ops.scan(lambda c, _: (ops.matmul(c, self.w), None), x, xs=None, length=2)
            return ops.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + 1.0), (0, last))[1]

    inputs = keras.Input((4,))
    model = keras.Model(inputs, Loops()(inputs))
    made = traced(model)
    assert sum(entry.name == "Matmul" for entry in made.tracer.tape.entries) == 5
    expected = called(model, made, arguments(made))[0]
    np.testing.assert_allclose(as_array(replayed(made, model, 0)[0]), expected, rtol=1e-5, atol=1e-5)


def test_another_thread_is_not_recorded():
    import threading

    from autoinit.frontends.keras.patches import tracing
    from autoinit.frontends.keras.tracer import Tracer

    tracer = Tracer({}, CustomRules(), False)
    done = []

    def elsewhere():
        done.append(as_array(ops.add(np.ones(2, "float32"), 1.0)))
        done.append(keras.Model(i := keras.Input((3,)), ops.relu(i)))

    with tracing(tracer):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert len(done) == 2 and not tracer.tape.entries


@pytest.mark.one_backend
def test_a_thousand_layers_nested():
    x = inputs = keras.Input((4,))
    for k in range(10):
        y = outer = keras.Input((4,))
        for j in range(10):
            z = inner = keras.Input((4,))
            for _ in range(10):
                z = layers.Dense(4, use_bias=False)(z)
            y = keras.Model(inner, z, name=f"in{j}")(y)
        x = keras.Model(outer, y, name=f"out{k}")(x)
    made = traced(keras.Model(inputs, x))
    assert len(made.graph.parameters) == 1000
    assert len({node.module for node in made.graph.nodes if node.module.startswith("out9/in9/")}) == 10
