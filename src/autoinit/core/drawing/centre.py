"""Biases that cancel the incoming mean: b = -mu (sum of the weight over its fan)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan.plan import PartPlan
from .regions import Region, places_in

Array = NDArray[Any]
Slabs = Iterable[tuple[list[int], Array]]
"""Where a piece of the weight begins, and its values."""


def centred_bias(part: PartPlan, weight_shape: Sequence[int], pieces: Slabs, pairs: bool = False) -> Array:
    """The values of a centring bias, in the shape of the part (of pairs of numbers: with a 2 at the end).

    `pieces` is the weight, a slab at a time, always the same ones, so that the sums do not depend on who asks.
    """
    region = Region.of(weight_shape, part.of_shape, part.of_stride, part.of_offset, pairs)
    outputs = _Outputs(region, [*part.rows, len(part.of_shape)] if pairs else list(part.rows), part.groups)
    total: Array = np.zeros(outputs.count)
    for low, values in pieces:
        places = places_in(region.whole, low, values.shape)
        chosen = region.holds(places)
        total = total + np.bincount(outputs.of(places[chosen]), values[chosen], outputs.count)
    return (-part.value * total).reshape([*part.shape, 2] if pairs else part.shape)


class _Outputs:
    """Which output an entry of a weight belongs to.

    Outputs run along `rows`. Where that is not the first axis (a transposed convolution: inputs, outputs per group,
    taps) the groups divide the inputs.
    """

    def __init__(self, region: Region, rows: list[int], groups: int) -> None:
        self.region, self.rows = region, rows
        self.groups = groups if groups > 1 and 0 not in rows else 1
        self.count = self.groups * prod(region.shape[r] for r in rows)

    def of(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        digits = self.region.digits(places)
        found = digits[0] // (self.region.shape[0] // self.groups) if self.groups > 1 else np.zeros_like(places)
        for r in self.rows:
            found = found * self.region.shape[r] + digits[r]
        return found
