"""Parameters as the core wants to know them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.graph.graph import Parameter, ParameterView
from .program import Leaf


def describe_parameters(leaves: Sequence[Leaf]) -> dict[str, Parameter]:
    """By name; values are read when somebody asks."""
    return {leaf.name: _described(leaf) for leaf in leaves if leaf.parameter}


def _described(leaf: Leaf) -> Parameter:
    def read(view: ParameterView | None) -> NDArray[Any] | None:
        array = leaf.array()
        if array is None:
            return None
        values = np.asarray(array)
        values = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
        if view is None or (view.whole and view.shape == values.shape and view.offset == 0 and _in_order(view)):
            return values
        steps = tuple(step * values.itemsize for step in view.stride)
        return np.lib.stride_tricks.as_strided(values.reshape(-1)[view.offset :], view.shape, steps, writeable=False)

    def is_zero() -> bool:
        array = leaf.array()
        return array is not None and not np.asarray(array).any()

    return Parameter(leaf.name, tuple(leaf.shape), leaf.dtype, leaf.trainable, read, leaf.aliases, is_zero)


def _in_order(view: ParameterView) -> bool:
    return list(view.stride) == sorted(view.stride, reverse=True)
