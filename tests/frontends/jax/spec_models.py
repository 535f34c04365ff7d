"""The models of `autoinit.testing.specs` as plain functions of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autoinit.frontends.jax.program import Leaf, Program
from autoinit.testing import specs

from .programs import leaf_of

NHWC = ("NHWC", "HWIO", "NHWC")
Function = Callable[[Any, Any, Any], Any]


def build(spec: specs.Model) -> Program:
    made = _Builder()
    function = made.stack(spec.layers, "")
    return Program("spec", tuple(made.leaves), function)


class _Builder:
    """Functions of (values, x, key); parameters are known by their position."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []

    def parameter(self, name: str, shape: tuple[int, ...], value: float | None = None) -> int:
        drawn = np.random.default_rng(len(self.leaves)).standard_normal(shape)
        self.leaves.append(leaf_of(name, (drawn if value is None else np.full(shape, value)).astype(np.float32)))
        return len(self.leaves) - 1

    def stack(self, layers: tuple[specs.Layer, ...], place: str) -> Function:
        functions = [self.layer(layer, f"{place}{k}") for k, layer in enumerate(layers)]

        def function(values: Any, x: Any, key: Any) -> Any:
            for k, one in enumerate(functions):
                x = one(values, x, jax.random.fold_in(key, k))
            return x

        return function

    def layer(self, layer: specs.Layer, place: str) -> Function:
        if isinstance(layer, specs.Dense):
            return self._dense(place, layer.inputs, layer.outputs, layer.bias)
        if isinstance(layer, specs.Conv):
            return self._conv(layer, place)
        if isinstance(layer, specs.Activation):
            exact = {"gelu": lambda x: jax.nn.gelu(x, approximate=False)}
            function: Any = exact.get(layer.name) or getattr(jax.nn, layer.name)
            return lambda values, x, key: function(x)
        if isinstance(layer, specs.Dropout):
            keep = 1.0 - layer.rate
            return lambda values, x, key: jnp.where(jax.random.bernoulli(key, keep, x.shape), x / keep, 0.0)
        if isinstance(layer, (specs.BatchNorm, specs.LayerNorm)):
            return self._norm(layer, place)
        if isinstance(layer, (specs.MaxPool, specs.AveragePool)):
            return _pool(layer)
        if isinstance(layer, specs.GlobalAverage):
            return lambda values, x, key: x.mean(tuple(range(1, x.ndim - 1)))
        if isinstance(layer, specs.Embedding):
            table = self.parameter(f"{place}.table", (layer.vocabulary, layer.features))
            return lambda values, x, key: jnp.take(values[table], x, axis=0)
        if isinstance(layer, specs.Residual):
            inner = self.stack(layer.layers, f"{place}.")
            return lambda values, x, key: x + inner(values, x, key)
        if isinstance(layer, specs.Branches):
            stacks = [self.stack(one, f"{place}.{k}.") for k, one in enumerate(layer.stacks)]
            return lambda values, x, key: jnp.concatenate([one(values, x, key) for one in stacks], axis=-1)
        dense = self._dense(place, layer.features, layer.features, True)
        return lambda values, x, key: dense(values, jnp.tanh(dense(values, x, key)), key)

    def _dense(self, place: str, inputs: int, outputs: int, has_bias: bool) -> Function:
        weight = self.parameter(f"{place}.weight", (inputs, outputs))
        bias = self.parameter(f"{place}.bias", (outputs,)) if has_bias else None
        return lambda values, x, key: x @ values[weight] + (0.0 if bias is None else values[bias])

    def _conv(self, layer: specs.Conv, place: str) -> Function:
        kernel = self.parameter(f"{place}.kernel", (layer.kernel,) * 2 + (layer.inputs // layer.groups, layer.outputs))
        bias = self.parameter(f"{place}.bias", (layer.outputs,)) if layer.bias else None
        padding = "SAME" if layer.same else "VALID"

        def function(values: Any, x: Any, key: Any) -> Any:
            y = lax.conv_general_dilated(x, values[kernel], (1, 1), padding, dimension_numbers=NHWC,
                                         feature_group_count=layer.groups)  # fmt: skip
            return y if bias is None else y + values[bias]

        return function

    def _norm(self, layer: specs.BatchNorm | specs.LayerNorm, place: str) -> Function:
        scale = self.parameter(f"{place}.scale", (layer.features,), 1.0)
        shift = self.parameter(f"{place}.shift", (layer.features,), 0.0)

        def function(values: Any, x: Any, key: Any) -> Any:
            axes = tuple(range(x.ndim - 1)) if isinstance(layer, specs.BatchNorm) else -1
            inverse = lax.rsqrt(x.var(axes, keepdims=True) + layer.eps)
            return (x - x.mean(axes, keepdims=True)) * inverse * values[scale] + values[shift]

        return function


def _pool(layer: specs.MaxPool | specs.AveragePool) -> Function:
    window = (1, layer.size, layer.size, 1)
    if isinstance(layer, specs.MaxPool):
        return lambda values, x, key: lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID")
    return lambda values, x, key: lax.reduce_window(x, 0.0, lax.add, window, window, "VALID") / layer.size**2
