"""Every activation of Keras, standing alone and fused into a layer: E[f] and E[f^2] through the real function."""

from __future__ import annotations

import inspect

import pytest

keras = pytest.importorskip("keras")

import numpy as np  # noqa: E402
from keras import activations, layers, ops  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402

from .measuring import LAWS, Beside, array, functional, moments  # noqa: E402

SIMULATED = {"sparsemax"}
MODEL_ERROR = {"log_softmax": 0.02, "softmax": 0.01, "sparsemax": 0.02, "glu": 0.005}
NEEDS_ARGUMENTS = {
    "threshold": lambda x: activations.threshold(x, 0.3, -0.5),
    "linear": lambda x: activations.linear(x) * 1.0,  # alone it is no operation at all
}


def named_activations() -> dict[str, object]:
    """The public functions of keras.activations."""
    found = {}
    for name in dir(activations):
        function = getattr(activations, name)
        if inspect.isfunction(function) and name not in ("deserialize", "get", "serialize"):
            found[name] = NEEDS_ARGUMENTS.get(name, function)
    return found


ACTIVATIONS = named_activations()


def test_no_activation_is_forgotten() -> None:
    """The names of the paper's list, as Keras 3 has them, and the others of Keras."""
    paper = {
        "elu", "exponential", "gelu", "hard_sigmoid", "leaky_relu", "linear", "relu", "selu", "sigmoid", "softplus",
        "softsign", "swish", "tanh", "softmax",
    }  # fmt: skip
    assert paper - {"swish"} <= set(ACTIVATIONS) and activations.get("swish") is activations.silu
    assert len(ACTIVATIONS) >= 28


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation(name: str, mean: float, variance: float) -> None:
    if name == "exponential" and variance > 1:
        variance = 1.0  # the fourth moment of a wider log-normal has no useful standard error
    moments(
        layers.Activation(ACTIVATIONS[name]), Input((256, 64), mean=mean, variance=variance),
        model_error=MODEL_ERROR.get(name, 0.0), simulated=name in SIMULATED,
    )  # fmt: skip


@pytest.mark.one_backend
@pytest.mark.parametrize("name", [n for n in ACTIVATIONS if n not in NEEDS_ARGUMENTS])
def test_fused(name: str) -> None:
    """activation= in a layer gives the numbers of a layer of its own behind it, and its weight is set alike."""
    given = Input((64, 32), mean=0.5, variance=2.0)
    plans = [
        autoinit.plan(model, given)
        for model in (
            keras.Sequential([keras.Input((32,)), layers.Dense(64, activation=name)]),
            keras.Sequential([keras.Input((32,)), layers.Dense(64), layers.Activation(name)]),
        )
    ]
    rows = [p.tensors[p.outputs[0]] for p in plans]
    assert rows[0].mean == pytest.approx(rows[1].mean, rel=1e-9, abs=1e-12)
    assert rows[0].second == pytest.approx(rows[1].second, rel=1e-9)
    stds = [p.parameters[0].parts[0].std for p in plans]
    assert stds[0] == pytest.approx(stds[1], rel=1e-12)


LAYERS = {
    "ReLU": lambda: layers.ReLU(),
    "ReLU max": lambda: layers.ReLU(max_value=1.5),
    "ReLU slope": lambda: layers.ReLU(negative_slope=0.3),
    "ReLU threshold": lambda: layers.ReLU(threshold=0.7),
    "ReLU all": lambda: layers.ReLU(max_value=2.0, negative_slope=0.2, threshold=0.4),
    "ReLU six": lambda: layers.ReLU(max_value=6.0),
    "LeakyReLU": lambda: layers.LeakyReLU(0.2),
    "ELU": lambda: layers.ELU(1.7),
    "PReLU": lambda: layers.PReLU(alpha_initializer=keras.initializers.Constant(0.4)),
    "PReLU shared": lambda: layers.PReLU(shared_axes=[1], alpha_initializer=keras.initializers.Constant(0.3)),
    "Softmax": lambda: layers.Softmax(),
    "Softmax axis": lambda: layers.Softmax(axis=1),
    "Softmax axes": lambda: layers.Softmax(axis=[1, 2]),
}


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", LAYERS)
def test_activation_layer(name: str, mean: float, variance: float) -> None:
    layer = LAYERS[name]()
    layer.build((128, 16, 32))
    moments(layer, Input((128, 16, 32), mean=mean, variance=variance),
            model_error=0.02 if "Softmax" in name else 0.0)  # fmt: skip


CUSTOM = {
    "thresholded relu": lambda x: x * ops.cast(x > 0.8, x.dtype),
    "thresholded relu by where": lambda x: ops.where(x > 0.8, x, 0.0),
    "sine of a square": lambda x: ops.sin(ops.square(x)) + 0.3 * x,
    "swish by hand": lambda x: x * ops.sigmoid(1.702 * x),
    "polynomial": lambda x: 0.5 * x**3 - x,
    "tanh exp": lambda x: x * ops.tanh(ops.exp(x)),
    "log cosh": lambda x: ops.logaddexp(x, -x) - 0.6931,
    "clipped": lambda x: ops.clip(x, -0.5, 1.0),
    "piecewise": lambda x: ops.maximum(ops.minimum(x, 1.0), -ops.abs(x) * 0.1),
}


@pytest.mark.parametrize("mean, variance", LAWS)
@pytest.mark.parametrize("name", CUSTOM)
def test_custom_function(name: str, mean: float, variance: float) -> None:
    if name == "tanh exp":
        variance = min(variance, 1.0)
    moments(layers.Activation(CUSTOM[name]), Input((256, 64), mean=mean, variance=variance))
    moments(layers.Lambda(CUSTOM[name]), Input((256, 64), mean=mean, variance=variance))


def test_masked_softmax() -> None:
    """Keys that a mask leaves out count neither in the prediction nor in the layer."""
    mask = np.arange(32) % 4 != 0
    given = Input((64, 16, 32), variance=2.0)
    row = moments(lambda x: layers.Softmax()(x, mask=ops.convert_to_tensor(mask[None, None])), given, model_error=0.02)
    assert row.mean == pytest.approx(1 / 32, rel=1e-6)


def test_function_that_keras_cannot_follow() -> None:
    """Code of the backend inside a Lambda is simulated, and reported."""
    import keras.src.backend as backend

    def native(x):
        if backend.backend() == "tensorflow":
            import tensorflow as tf

            return tf.math.lbeta(tf.stack([tf.abs(x) + 1.0, tf.ones_like(x)], -1))
        if backend.backend() == "jax":
            import jax.scipy.special as special

            return special.betaln(abs(x) + 1.0, 1.0)
        import torch

        a = torch.abs(x) + 1.0
        return torch.special.gammaln(a) - torch.special.gammaln(a + 1.0)

    model = Beside(layers.Lambda(native))
    plan = autoinit.check(model, Input((64, 64)))
    assert "simulated" in {n.kind for n in plan.notes} and "passed" not in {n.kind for n in plan.notes}
    x = np.abs(np.random.default_rng(0).standard_normal(1_000_000)) + 1.0
    row = plan.tensors[plan.outputs[0]]
    assert row.mean == pytest.approx(-np.log(x).mean(), rel=0.03)
    assert row.second == pytest.approx(np.square(np.log(x)).mean(), rel=0.05)


def test_lambda_inside_a_functional_model() -> None:
    model = functional(lambda x: layers.Dense(64)(layers.Lambda(lambda t: ops.tanh(t) * 3.0)(x)), (64,))
    plan = autoinit.plan(model, Input((64, 64)))
    assert not plan.unreached()
    row = next(t for t in plan.tensors if t.op == "Multiply")
    y = 3 * np.tanh(np.random.default_rng(0).standard_normal(1_000_000))
    assert row.second == pytest.approx(np.square(y).mean(), rel=0.01)


def test_same_numbers_as_numpy() -> None:
    """The helper measures what the layer does: a known function against NumPy."""
    x = np.random.default_rng(0).standard_normal((8, 4)).astype("float32")
    y = array(Beside(layers.ReLU(threshold=0.5))(ops.convert_to_tensor(x)))
    assert np.allclose(y, np.where(x > 0.5, x, 0.0))
