"""What stands in the box of a layer, and which colour it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..network import Layer

FAMILIES: Mapping[str, str] = {
    "conv1d": "convolution", "conv2d": "convolution", "dense": "dense", "gru": "recurrent", "lstm": "recurrent",
    "embedding": "embedding", "projection": "projection", "dropout": "dropout", "spatial_dropout1d": "dropout",
    "max_pooling1d": "pooling", "max_pooling2d": "pooling", "average": "pooling", "maximum": "pooling",
    "flatten": "pooling", "add": "merge", "concatenate": "merge", "weighted_sum": "merge",
}  # fmt: skip
"""Kinds of layers that share a colour."""

WORDS: Mapping[str, str] = {
    "conv1d": "Conv1D", "conv2d": "Conv2D", "dense": "Dense", "gru": "GRU", "lstm": "LSTM", "embedding": "Embedding",
    "projection": "Projection", "dropout": "Dropout", "spatial_dropout1d": "SpatialDropout1D",
    "max_pooling1d": "MaxPooling1D", "max_pooling2d": "MaxPooling2D", "average": "global average",
    "maximum": "global maximum", "flatten": "Flatten", "add": "Add", "concatenate": "Concatenate",
    "weighted_sum": "WeightedSum", "relu": "ReLU", "elu": "ELU", "selu": "SELU", "linear": "linear",
    "glorot_normal": "Glorot normal", "glorot_uniform": "Glorot uniform", "he_normal": "He normal",
    "he_uniform": "He uniform", "evolved": "evolved", "autoinit": "AutoInit",
    "autoinit-paper": "AutoInit, paper's model", "autoinit-train": "AutoInit, recipe for training",
}  # fmt: skip


def word(name: str) -> str:
    """How a kind, an activation or an initialization is called in print."""
    return WORDS.get(name, name)


def times(sizes: Iterable[int]) -> str:
    """28×28×1."""
    return "×".join(map(str, sizes))


def title(layer: Layer) -> str:
    """Conv2D 3×3 · 64, Dropout 0.35, MaxPooling2D 2×2."""
    told = word(layer.kind)
    axes = len(layer.shape) - 1
    if layer.get("kernel") is not None:
        told += f" {times([layer['kernel']] * max(axes, 1))}"
    if layer.get("window") is not None:
        told += f" {times(layer['window'])}"
    elif layer.kind.startswith("max_pooling"):
        told += f" {times([2] * axes)}"
    if layer.get("rate") is not None:
        told += f" {layer['rate']:.2f}"
    return f"{told} · {layer['units']}" if layer.get("units") is not None else told


def detail(layer: Layer, schemes: bool) -> str:
    """ReLU · He normal; without the initialization where it does not count."""
    if layer.kind == "projection":
        return ""
    names = [layer.get("activation"), layer.get("initialization") if schemes else None]
    return " · ".join(word(name) for name in names if name is not None)
