"""What a plan puts into a parameter: any rectangle of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lazy import lazy
from ..plan.plan import ParameterPlan, PartPlan
from ..plan.weights import c_strides
from .orthogonal import Orthogonal, orthogonal
from .regions import Region, Shape, places_in, together_cover
from .stretches import Numbers, box_at, slabs
from .unit import INDEPENDENT
from .words import key_of

Array = NDArray[Any]


class Draw:
    """The values of one planned parameter.

    A complex parameter is drawn as one of pairs of numbers: its shape has a 2 at the end here. Half of the variance of
    a complex number is its real part's: E|w|^2 is `std`^2.
    """

    def __init__(
        self, plan: ParameterPlan, distribution: str, seed: int, exact: bool = False, pairs: bool = False
    ) -> None:
        self.name, self.exact, self.pairs = plan.name, exact, pairs
        self.shape: Shape = (*plan.shape, 2) if pairs else tuple(plan.shape)
        self.key = key_of(seed, plan.name)
        self.parts = [Filling(self, part, part.drawn_as(distribution)) for part in plan.parts if 0 not in part.shape]

    @lazy
    def covers(self) -> bool:
        """Whether nothing is left of the parameter's old values."""
        return together_cover([part.region for part in self.parts])

    def into(self, out: Array, low: Sequence[int] | None = None) -> None:
        """Write the rectangle out.shape at `low`; entries that no part covers keep their values."""
        low = [0] * out.ndim if low is None else list(low)
        for part in self.parts:
            part.into(out, low)


class Filling:
    """One part of a parameter."""

    def __init__(self, whole: Draw, part: PartPlan, kind: str) -> None:
        self.whole, self.part, self.kind, self.std = whole, part, kind, part.std * part.factor
        entries = whole.shape[:-1] if whole.pairs else whole.shape
        self.region = Region.of(entries, part.shape, part.stride, part.offset, whole.pairs)

    def into(self, out: Array, low: Sequence[int]) -> None:
        box = self.region.box()
        if box is None:
            self._scattered(out, low)
            return
        cut = [(max(a, b), min(c, a + n)) for (b, c), a, n in zip(box, low, out.shape, strict=True)]
        if all(a < b for a, b in cut):
            inside = tuple(slice(a - n, b - n) for (a, b), n in zip(cut, low, strict=True))
            self._write(out[inside], [a for a, _ in cut])

    def _scattered(self, out: Array, low: Sequence[int]) -> None:
        """A region that is no box: slab by slab, the whole of it, and of that what is meant."""
        for start, shape in slabs(out.shape):
            at = [a + b for a, b in zip(low, start, strict=True)]
            chosen = self.region.holds(places_in(self.whole.shape, at, shape))
            if not chosen.any():
                continue
            wide = np.empty(shape, dtype=out.dtype)
            self._write(wide, at)
            target = out[box_at(start, shape)]
            target[chosen] = wide[chosen]

    def _write(self, out: Array, low: Sequence[int]) -> None:
        """The filling at a rectangle, as if it covered it."""
        if self.kind == "constant":
            out[...] = self.std
            if self.whole.pairs:
                out[..., 1] = 0.0
        elif self.kind == "centre":  # written when the weight that it belongs to is drawn
            out[...] = 0.0
        elif self.kind == "orthogonal":
            self._orthogonal_into(out, low)
        else:
            scale, shift = self._settled
            numbers = Numbers(self.whole.key, self.whole.shape, self.kind, scale, shift[0] if len(shift) == 1 else 0.0)
            numbers.draw(out, low)
            if len(shift) > 1:
                out -= np.array(shift, dtype=out.dtype) * out.dtype.type(scale)

    def _orthogonal_into(self, out: Array, low: Sequence[int]) -> None:
        region, part = self.region, self.part
        if not self.whole.pairs:
            made = Orthogonal(self.whole.key ^ region.offset, region.shape, part.rows, part.groups, self.std)
            box = region.box()
            if box is not None and region.stride == c_strides(region.whole):
                made.into(out, [a - start for a, (start, _) in zip(low, box, strict=True)])
                return
        places = places_in(self.whole.shape, low, out.shape)
        numbers = region.number(places)
        if self.whole.pairs:
            out[...] = self._unitary.take(numbers)
        else:
            lowest = np.array([d.min() for d in region.digits(places)])
            shape = np.array([d.max() for d in region.digits(places)]) + 1 - lowest
            wide = np.empty(tuple(shape), dtype=np.float32)
            made.into(wide, lowest.tolist())
            out[...] = wide[tuple(d - a for d, a in zip(region.digits(places), lowest, strict=True))]

    @lazy
    def _unitary(self) -> Array:
        """The whole part of a complex parameter, in C order."""
        gaussian = np.empty(self.region.shape, dtype=np.float32)
        low, high = self._bounds()
        dense = np.empty([b - a for a, b in zip(low, high, strict=True)], dtype=np.float32)
        Numbers(self.whole.key, self.whole.shape, "normal").draw(dense, low)
        places = places_in(self.whole.shape, low, dense.shape)
        chosen = self.region.holds(places)
        gaussian.reshape(-1)[self.region.number(places[chosen])] = dense[chosen]
        made = orthogonal(gaussian.view(np.complex64)[..., 0], self.part.rows, self.part.groups, self.std)
        return np.ascontiguousarray(made).view(np.float32).reshape(-1)

    def _bounds(self) -> tuple[list[int], list[int]]:
        """A rectangle of the parameter that the part lies in."""
        box = self.region.box() or tuple((0, n) for n in self.whole.shape)
        return [a for a, _ in box], [b for _, b in box]

    @lazy
    def _settled(self) -> tuple[float, list[float]]:
        """(scale, shift): the value of an entry is scale (x - shift); of pairs, real and imaginary part have their own.

        `exact` takes the mean of the part's entries off and makes their mean square the planned one. Both are sums
        over the whole part, which whoever has a shard works out from the bits: nobody needs to be asked.
        """
        std = self.std / sqrt(2.0) if self.whole.pairs else self.std
        if not self.whole.exact or self.kind not in INDEPENDENT or prod(self.region.shape) < 2:
            return std, [0.0]
        kinds = 2 if self.whole.pairs else 1
        count, total, squares = 0, np.zeros(kinds), 0.0
        low, high = self._bounds()
        for start, shape in slabs([b - a for a, b in zip(low, high, strict=True)]):
            at = [a + b for a, b in zip(low, start, strict=True)]
            x = np.empty(shape, dtype=np.float32)
            Numbers(self.whole.key, self.whole.shape, self.kind).draw(x, at)
            wide = x.astype(np.float64)
            if self.region.box() is None:
                wide = wide[self.region.holds(places_in(self.whole.shape, at, shape))]
            total = total + wide.reshape(-1, kinds).sum(axis=0)
            count, squares = count + wide.size, squares + float((wide * wide).sum())
        mean = total * (kinds / count)
        return std / max(sqrt(max(squares / count - float(np.mean(mean**2)), 0.0)), 1e-30), mean.tolist()
