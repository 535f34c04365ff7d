"""Layers that are followed through an equivalent of their `call`, because their own repeats one thing many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import layers, ops, tree


def equivalent(layer: Any) -> Callable[..., Any] | None:
    """The function to follow instead of ``layer.call``; None for almost all layers."""
    if isinstance(layer, layers.TimeDistributed) and type(layer).call is layers.TimeDistributed.call:
        return lambda inputs, training=None, mask=None: _time_distributed(layer, inputs, training)
    return None


def _time_distributed(layer: Any, inputs: Any, training: Any) -> Any:
    """One call of the inner layer on batch times steps, in place of one call per step."""
    batch, steps = inputs.shape[:2]
    merged = ops.reshape(inputs, (batch * steps, *inputs.shape[2:]))
    made = layer.layer(merged, training=training)
    return tree.map_structure(lambda y: ops.reshape(y, (batch, steps, *y.shape[1:])), made)
