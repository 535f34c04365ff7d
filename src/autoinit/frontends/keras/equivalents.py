"""Layers that are followed through an equivalent of their `call`: their own repeats one thing many times, or writes
to a weight and reads it again. And operations that are two in one, so that what lies between is seen and measured."""

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


def equivalent_operation(op: Any) -> Callable[..., Any] | None:
    """The function to follow instead of an operation; None for almost all."""
    return (lambda *args, **kwargs: _separable(op, *args, **kwargs)) if type(op).__name__ == "SeparableConv" else None


def _separable(op: Any, inputs: Any, depthwise_kernel: Any, pointwise_kernel: Any) -> Any:
    """Depthwise, then pointwise."""
    settings = {"data_format": op.data_format, "dilation_rate": op.dilation_rate}
    between = ops.depthwise_conv(inputs, depthwise_kernel, strides=op.strides, padding=op.padding, **settings)
    return ops.conv(between, pointwise_kernel, strides=1, padding="valid", **settings)
