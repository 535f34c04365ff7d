"""The JAX front end does what every front end has to do, on modules of NNX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("flax")

import jax
from flax import nnx
from jax import numpy as jnp

from autoinit.frontends.jax.adapters import adapted
from autoinit.testing import FrontEndSuite, specs

ACTIVATIONS = {
    "relu": nnx.relu, "tanh": nnx.tanh, "gelu": lambda x: nnx.gelu(x, approximate=False), "silu": nnx.silu,
    "sigmoid": nnx.sigmoid,
}  # fmt: skip


class Frozen(nnx.Variable):
    """Not trained."""


class Stack(nnx.Module):
    def __init__(self, layers: Any, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([made(layer, rngs) for layer in layers])

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class Function(nnx.Module):
    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, x: Any) -> Any:
        return self.function(x)


class Residual(Stack):
    def __call__(self, x: Any) -> Any:
        return x + super().__call__(x)


class Branches(nnx.Module):
    def __init__(self, stacks: Any, rngs: nnx.Rngs) -> None:
        self.stacks = nnx.List([Stack(layers, rngs) for layers in stacks])

    def __call__(self, x: Any) -> Any:
        return jnp.concatenate([stack(x) for stack in self.stacks], -1)


class Twice(nnx.Module):
    def __init__(self, features: int, rngs: nnx.Rngs) -> None:
        self.layer = nnx.Linear(features, features, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.layer(nnx.tanh(self.layer(x)))


def made(layer: Any, rngs: nnx.Rngs) -> nnx.Module:
    bias = nnx.initializers.normal(1.0)
    match layer:
        case specs.Dense():
            return nnx.Linear(layer.inputs, layer.outputs, use_bias=layer.bias, bias_init=bias, rngs=rngs)
        case specs.Conv():
            padding = "SAME" if layer.same else "VALID"
            return nnx.Conv(layer.inputs, layer.outputs, (layer.kernel,) * 2, padding=padding, use_bias=layer.bias,
                            feature_group_count=layer.groups, bias_init=bias, rngs=rngs)  # fmt: skip
        case specs.Activation():
            return Function(ACTIVATIONS[layer.name])
        case specs.Dropout():
            return nnx.Dropout(layer.rate, rngs=rngs)
        case specs.BatchNorm():
            return nnx.BatchNorm(layer.features, epsilon=layer.eps, rngs=rngs)
        case specs.LayerNorm():
            return nnx.LayerNorm(layer.features, epsilon=layer.eps, rngs=rngs)
        case specs.MaxPool(size=n):
            return Function(lambda x: nnx.max_pool(x, (n, n), (n, n)))
        case specs.AveragePool(size=n):
            return Function(lambda x: nnx.avg_pool(x, (n, n), (n, n)))
        case specs.GlobalAverage():
            return Function(lambda x: x.mean((1, 2)))
        case specs.Embedding():
            return nnx.Embed(layer.vocabulary, layer.features, rngs=rngs)
        case specs.Residual():
            return Residual(layer.layers, rngs)
        case specs.Branches():
            return Branches(layer.stacks, rngs)
        case specs.Twice():
            return Twice(layer.features, rngs)
    raise AssertionError(layer)


class TestNnx(FrontEndSuite):
    # Activations of JAX are functions in the code of a model (test_libraries.py).
    test_both_ways_to_centre_give_the_same_network = None
    test_centred_activations_are_measured_as_planned = None
    test_centring_touches_nothing_before_it_is_applied = None
    test_centring_again_replaces_the_shift = None

    def build(self, model: Any) -> Any:
        return Stack(model.layers, nnx.Rngs(0))

    def read(self, model: Any) -> dict[str, np.ndarray]:
        return {name: np.array(held.values()) for name, held in adapted(model).parameters.items()}

    def write(self, model: Any, name: str, values: np.ndarray) -> None:
        made = adapted(model)
        made.put(made.parameters[name], jnp.asarray(values))

    def freeze(self, model: Any, name: str) -> None:
        *path, last = name.split(".")
        for part in path:
            model = model[int(part)] if part.isdigit() else getattr(model, part)
        setattr(model, last, Frozen(getattr(model, last)[...]))

    def call(self, model: Any, inputs: np.ndarray) -> np.ndarray:
        model.eval()
        return np.asarray(jax.jit(lambda x: model(x))(inputs))
