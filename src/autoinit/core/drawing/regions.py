"""Which entries of a parameter a part of its plan means: a box, or any strided region."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import PlanError
from ..graph.graph import ParameterView
from ..plan.check import inside
from ..plan.weights import Block, block, c_strides, overlap

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """as_strided(parameter in C order, shape, stride, offset)."""

    whole: Shape
    """The shape of the parameter."""
    shape: Shape
    stride: Shape
    offset: int

    @classmethod
    def of(
        cls, whole: Sequence[int], shape: Sequence[int], stride: Sequence[int], offset: int, pairs: bool = False
    ) -> Region:
        """`pairs`: of a complex parameter, as one of pairs of numbers, with a 2 at the end of its shape."""
        if pairs:
            whole, shape, stride, offset = [*whole, 2], [*shape, 2], [*(2 * s for s in stride), 1], 2 * offset
        if not inside(list(shape), list(stride), offset, prod(whole)):
            raise PlanError("a part lies outside of its parameter", where="Plan.apply",
                            received=f"shape {list(shape)}, stride {list(stride)}, offset {offset} of "
                            f"{prod(whole)} entries", fix="make the plan again")  # fmt: skip
        return cls(tuple(whole), tuple(shape), tuple(stride), offset)

    @property
    def covers(self) -> bool:
        """Every entry of the parameter is in it (as no entry is in a part twice)."""
        return prod(self.shape) == prod(self.whole)

    def box(self) -> Block | None:
        """As ranges per axis of the parameter, or None if it is no such box."""
        if self.covers:
            return tuple((0, n) for n in self.whole)
        return block(ParameterView("", self.shape, self.stride, self.offset, False), self.whole)

    def digits(self, places: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The place along every axis of the region of entries of the parameter (by their number there).

        As no two entries of the region are the same, its axes in the order of their strides are like the digits of a
        number. What is not in the region gets those of an entry that is.
        """
        found = [np.zeros_like(places)] * len(self.shape)
        rest = places - self.offset
        for a in sorted(range(len(self.shape)), key=lambda a: -self.stride[a]):
            if self.shape[a] > 1:
                found[a] = np.clip(rest // self.stride[a], 0, self.shape[a] - 1)
                rest = rest - found[a] * self.stride[a]
        return found

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of entries of the parameter in C order of the region."""
        made = np.zeros_like(places)
        for digit, n in zip(self.digits(places), self.shape, strict=True):
            made = made * n + digit
        return made

    def holds(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether entries of the parameter are in the region."""
        nearest = sum((d * s for d, s in zip(self.digits(places), self.stride, strict=True)), np.int64(self.offset))
        return np.asarray(np.equal(nearest, places))

    def put(self, out: NDArray[Any], low: Sequence[int], values: NDArray[Any]) -> None:
        """Write the region's values (in its C order) where they lie in the rectangle `out` that begins at `low`."""
        places = places_in(self.whole, low, out.shape)
        chosen = self.holds(places)
        out[chosen] = values.reshape(-1)[self.number(places[chosen])]


MARKED = 2**26
"""So many entries are marked one by one, at most."""


def together_cover(regions: Sequence[Region]) -> bool:
    """Whether every entry of their parameter is in one of these; False where finding out takes too much memory."""
    if not regions or any(region.covers for region in regions):
        return bool(regions)
    size = prod(regions[0].whole)
    if sum(prod(region.shape) for region in regions) < size:
        return False
    boxes = [box for region in regions if (box := region.box()) is not None]
    if len(boxes) == len(regions) and not any(overlap(*pair) for pair in combinations(boxes, 2)):
        return True
    if size > MARKED:
        return False
    marks = np.zeros(size, dtype=np.bool_)
    for region in regions:
        np.lib.stride_tricks.as_strided(marks[region.offset :], region.shape, region.stride)[...] = True
    return bool(marks.all())


def places_in(whole: Sequence[int], low: Sequence[int], shape: Sequence[int]) -> NDArray[Any]:
    """The numbers, in C order, of the entries of a rectangle."""
    made = np.zeros((1,) * len(shape), dtype=np.int64)
    for a, (start, n, step) in enumerate(zip(low, shape, c_strides(tuple(whole)), strict=True)):
        axis = [1] * len(shape)
        axis[a] = n
        made = made + (np.arange(start, start + n, dtype=np.int64) * step).reshape(axis)
    return np.broadcast_to(made, tuple(shape))
