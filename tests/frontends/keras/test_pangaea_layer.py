"""Activation functions of the PANGAEA search space as Keras layers: values, gradients, saving, planning."""

import contextlib

import keras
import numpy as np
import pytest
import torch

import autoinit
from autoinit.labs.pangaea import Function
from autoinit.labs.pangaea.compiled_keras import OPERATORS as COMPILED
from autoinit.labs.pangaea.compiled_keras import PangaeaActivation
from autoinit.labs.pangaea.operators import BINARY, NAMES, UNARY

BACKEND = keras.backend.backend()
X = np.concatenate([[0.0, 1e-9, -1e-3, 12.0, -12.0, 40.0, -40.0], np.random.default_rng(0).normal(size=30) * 2])
"""One channel per point, so that gradients of per-channel parameters are those of single points."""

SINGLE = [f"alpha * {name}(beta * x)" for name in UNARY] + [f"alpha * {name}(beta * x, tanh(x))" for name in BINARY]
TIES = ["max(alpha * x, x)", "min(x, relu(beta * x))", "max(alpha, beta * abs(x) / abs(x))"]
RANDOM = [Function.random(np.random.default_rng(seed)).formula for seed in range(100)]


def given(function):
    rng = np.random.default_rng(1)
    drawn = {name: rng.uniform(-2, 2, size=X.size) for name in ("alpha", "beta", "gamma")}
    return {name: np.where(np.arange(X.size) % 2, drawn[name], 1.0) for name in function.parameters}


def double():
    """JAX has double precision only where it is asked for."""
    return pytest.importorskip("jax").enable_x64(True) if BACKEND == "jax" else contextlib.nullcontext()


def keras_results(function):
    """Values, and gradients with respect to x and every parameter, of the Keras layer on this backend."""
    with double():
        layer = function.keras(dtype="float64")
        layer.build((None, X.size))
        weights = {weight.name: weight for weight in layer.trainable_variables}
        assert tuple(weights) == function.parameters
        for name, value in given(function).items():
            weights[name].assign(value)
        x = keras.ops.convert_to_tensor(X[None], dtype="float64")
        if BACKEND == "tensorflow":
            import tensorflow as tf

            sources = [x, *(weight.value for weight in layer.trainable_variables)]
            with tf.GradientTape() as tape:
                tape.watch(sources)
                y = layer(x)
            gradients = tape.gradient(y, sources, unconnected_gradients="zero")
        elif BACKEND == "jax":
            import jax

            def values(trainable, x):
                return layer.stateless_call(trainable, [], x)[0]

            y, pullback = jax.vjp(values, [weight.value for weight in layer.trainable_variables], x)
            of_weights, of_x = pullback(keras.ops.ones_like(y))
            gradients = [of_x, *of_weights]
        else:
            y, gradients = torch_gradients(layer, x, [weight.value for weight in layer.trainable_variables])
        return [keras.ops.convert_to_numpy(a).reshape(-1) for a in (y, *gradients)]


def torch_results(function):
    module = function.torch(X.size).double()
    with torch.no_grad():
        for name, value in given(function).items():
            getattr(module, name).copy_(torch.tensor(value))
    y, gradients = torch_gradients(module, torch.tensor(X[None]), list(module.parameters()))
    return [a.detach().numpy().reshape(-1) for a in (y, *gradients)]


def torch_gradients(module, x, parameters):
    x = x.detach().requires_grad_()
    y = module(x)
    sources = [x, *parameters]
    if not y.requires_grad:
        return y, [torch.zeros_like(source) for source in sources]
    found = torch.autograd.grad(y.sum(), sources, allow_unused=True)
    return y, [torch.zeros_like(s) if g is None else g for s, g in zip(sources, found, strict=True)]


def moderate(function):
    """Where no value inside the function is near an overflow: beyond, derivatives depend on how they are written."""
    inside = [
        Function(node)(X, **{n: given(function)[n] for n in node.parameters}) for _, node in function.graph.walk()
    ]
    return np.all(np.abs(inside) < 1e100, axis=0)


@pytest.mark.parametrize("formulas", [SINGLE, TIES, *(RANDOM[k : k + 25] for k in range(0, 100, 25))])
def test_values_and_gradients(formulas):
    for formula in formulas:
        function = Function.parse(formula)
        values, *gradients = keras_results(function)
        np.testing.assert_allclose(values, function(X, **given(function)), rtol=1e-6, atol=1e-9, err_msg=formula)
        expected = torch_results(function)[1:]
        where = moderate(function)
        assert where.sum() > 25
        for name, one, other in zip(("x", *function.parameters), gradients, expected, strict=True):
            np.testing.assert_allclose(one[where], other[where], rtol=1e-6, atol=1e-9, err_msg=f"{formula}: d/d{name}")


def test_the_tables_have_the_same_names():
    assert tuple(COMPILED) == NAMES


def test_in_a_model_saved_and_loaded(tmp_path):
    function = Function.parse("max(alpha * x, tanh(beta * x)) - gamma")
    model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Conv2D(5, 3), function.keras(name="activation")])
    layer = model.get_layer("activation")
    assert [tuple(weight.shape) for weight in layer.trainable_variables] == [(5,)] * 3
    layer.set_weights([np.full(5, 0.5), np.full(5, 2.0), np.full(5, -1.0)])
    x = np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("float32")
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.get_layer("activation").function == function
    np.testing.assert_array_equal(*(keras.ops.convert_to_numpy(one(x)) for one in (model, loaded)))


def test_a_layer_has_a_config_and_a_shape():
    layer = Function.parse("swish(alpha * x)").keras(name="f")
    assert layer.get_config()["formula"] == "swish(alpha * x)"
    again = PangaeaActivation.from_config(layer.get_config())
    assert again.function == layer.function and again.name == "f"
    assert layer.compute_output_shape((None, 4, 7)) == (None, 4, 7)


def test_training_moves_the_parameters():
    model = keras.Sequential([keras.Input((6,)), Function.parse("alpha * tanh(beta * x)").keras()])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
    before = [np.array(w) for w in model.get_weights()]
    first = model.evaluate(x, 2 * np.tanh(0.5 * x), verbose=0)
    model.fit(x, 2 * np.tanh(0.5 * x), epochs=5, verbose=0)
    assert all(np.all(a != b) for a, b in zip(before, model.get_weights(), strict=True))
    assert model.evaluate(x, 2 * np.tanh(0.5 * x), verbose=0) < first


@pytest.mark.parametrize(
    "formula", ["alpha * sigmoid(beta * x)", "max(alpha * x, tanh(x)) - beta", "arcsinh(x) * erfc(x)", "x / exp(x)"]
)
def test_the_plan_knows_the_function(formula):
    """The same scales as for the PyTorch module, whose moments are tested against measurements."""
    function = Function.parse(formula)
    model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(16), function.keras(), keras.layers.Dense(8)])
    beside = torch.nn.Sequential(torch.nn.Linear(12, 16), function.torch(16), torch.nn.Linear(16, 8))
    ours, theirs = autoinit.plan(model, (64, 12)), autoinit.plan(beside, (64, 12))
    stds = [[p.std for p in plan.parameters if p.action == "set"] for plan in (ours, theirs)]
    assert len(stds[0]) == 2
    np.testing.assert_allclose(stds[0], stds[1], rtol=1e-6)


def test_bessel_functions_are_planned_from_samples():
    """keras.ops has none: the plan measures them, and says so. σ² = 1/(fan·E f²), E f² from 100,000 samples here."""
    function = Function.parse("max(x, i0e(x)) + i1e(x)")
    layers = [keras.Input((1000,)), keras.layers.Dense(64), function.keras(), keras.layers.Dense(4)]
    plan = autoinit.plan(keras.Sequential(layers), (256, 1000))
    squares = function(np.random.default_rng(0).standard_normal(100_000)) ** 2
    std = [p.std for p in plan.parameters if p.action == "set"][1]
    np.testing.assert_allclose(std, 1 / np.sqrt(64 * squares.mean()), rtol=0.03)
    assert [note.kind for note in plan.notes if "I0e" in note.place or "Pangaea" in note.place] == ["simulated"]
