"""Biases that cancel the incoming mean: b = -mu (sum of the weight over its fan)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan.check import groups_of_inputs, outputs_of
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
    rows = [*part.rows, len(part.of_shape)] if pairs else part.rows
    total: Array = np.zeros(outputs_of(region.shape, rows, part.groups))
    for low, values in pieces:
        places = places_in(region.whole, low, values.shape)
        chosen = region.holds(places)
        outputs = _outputs(region, rows, groups_of_inputs(rows, part.groups), places[chosen])
        total = total + np.bincount(outputs, values[chosen], total.size)
    return (-part.value * total).reshape([*part.shape, 2] if pairs else part.shape)


def _outputs(region: Region, rows: list[int], groups: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which output entries of a weight belong to: outputs run along `rows`, within groups of inputs."""
    digits = region.digits(places)
    found = digits[0] // (region.shape[0] // groups) if groups > 1 else np.zeros_like(places)
    for r in rows:
        found = found * region.shape[r] + digits[r]
    return found
