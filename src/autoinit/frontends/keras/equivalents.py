"""Layers that are followed through an equivalent of their `call`: their own repeats one thing many times, or writes
to a weight and reads it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import layers, ops, tree

from .spectral import SpectralKernel


def equivalent(layer: Any, tracer: Any) -> Callable[..., Any] | None:
    """The function to follow instead of ``layer.call``; None for almost all layers."""
    if isinstance(layer, layers.SpectralNormalization) and type(layer).call is layers.SpectralNormalization.call:
        return lambda inputs, training=None: _spectral(layer, tracer, inputs, training)
    if isinstance(layer, layers.TimeDistributed) and type(layer).call is layers.TimeDistributed.call:
        return lambda inputs, training=None, mask=None: _time_distributed(layer, inputs, training)
    return None


def _time_distributed(layer: Any, inputs: Any, training: Any) -> Any:
    """One call of the inner layer on batch times steps, in place of one call per step."""
    batch, steps = inputs.shape[:2]
    merged = ops.reshape(inputs, (batch * steps, *inputs.shape[2:]))
    made = layer.layer(merged, training=training)
    return tree.map_structure(lambda y: ops.reshape(y, (batch, steps, *y.shape[1:])), made)


def _spectral(layer: Any, tracer: Any, inputs: Any, training: Any) -> Any:
    """The inner layer with its kernel divided by its top singular value (in training, where that is done)."""
    if not (tracer.training if training is None else training):
        return layer.layer(inputs)
    with tracer.standing_for(layer.kernel, SpectralKernel(layer)(layer.kernel)):
        return layer.layer(inputs)
