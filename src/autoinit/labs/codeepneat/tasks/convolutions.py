"""The space of the paper's table for images: convolutions, dropout and max pooling, added up where they meet."""

from __future__ import annotations

from ..ranges import Real
from ..space import LayerKind, Space, weighted, whole_network


def convolutions(units: tuple[int, int]) -> Space:
    """`units`: the least and the most filters of a layer."""
    layers = (
        LayerKind("conv2d", weighted(units, kernels=(1, 3))),
        LayerKind("dropout", {"rate": Real(0.0, 0.7)}),
        LayerKind("max_pooling2d"),
    )
    return Space(layers, merges=("add",), settings=whole_network((1e-4, 1e-2)))
