"""The values that a plan gives an array: any rectangle of it, wherever the array's shards are.

A value is a function of the seed, the parameter's name and its place, so a shard is drawn by itself, with no memory
beyond it but for a slab; eager, under `jit` (`traced.py`), on any mesh, the bits are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol

import jax
import numpy as np
from jax import numpy as jnp
from numpy.typing import NDArray

from ...core.drawing import Draw, centred_bias, slabs
from ...core.drawing.regions import Region
from ...core.drawing.stretches import box_at
from ...core.plan.plan import ParameterPlan, PlanData
from ...errors import PlanError
from .names import is_number

ALIGNED = 64
"""XLA takes over what begins at a multiple of so many bytes."""

Pieces = Iterator[tuple[list[int], NDArray[np.float64]]]


class Weight(Protocol):
    """A whole weight, as the biases need it that cancel a mean."""

    @property
    def shape(self) -> Sequence[int]: ...

    def pieces(self, seed: int) -> Pieces:
        """Its values, a slab at a time, the same slabs however it is cut."""


@dataclass(frozen=True)
class Filling:
    """What a plan puts into one array."""

    entry: ParameterPlan
    distribution: str
    exact: bool
    dtype: Any
    weights: Mapping[str, Weight] = field(default_factory=dict)
    """By name: those whose mean its parts cancel."""

    @property
    def shape(self) -> Sequence[int]:
        return self.entry.shape

    @property
    def pairs(self) -> bool:
        """A complex array is drawn as pairs of numbers."""
        return bool(jnp.issubdtype(self.dtype, np.complexfloating))

    @property
    def wide(self) -> Any:
        """The precision that values are drawn in."""
        return np.float64 if self.dtype in (np.float64, np.complex128) else np.float32

    @property
    def covers(self) -> bool:
        """Whether nothing is left of what the array held before."""
        return self._draw(0).covers

    def rectangle(
        self, seed: int, low: Sequence[int], shape: Sequence[int], present: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """The values at a rectangle; `present`: what is there now, if no part covers the array."""
        made = own_memory(shape, self.dtype)
        if present is not None:
            made[...] = present
        draw, centres = self._draw(seed), self._centres(seed)
        if made.dtype == self.wide:  # drawn where they stay
            self._put(made, [int(a) for a in low], draw, centres)
            return made
        for start, size in slabs(tuple(shape)):
            at, place = [int(a) + b for a, b in zip(low, start, strict=True)], box_at(start, size)
            buffer = np.empty((*size, 2) if self.pairs else size, self.wide)
            if present is not None:
                buffer[...] = self._numbers(made[place])
            self._put(buffer, [*at, 0] if self.pairs else at, draw, centres)
            made[place] = self._rounded(buffer)
        return made

    @staticmethod
    def _put(out: NDArray[Any], low: list[int], draw: Draw, centres: list[tuple[Region, NDArray[Any]]]) -> None:
        draw.into(out, low)
        for region, values in centres:
            region.put(out, low, values)

    def pieces(self, seed: int) -> Pieces:
        draw = self._draw(seed)
        for low, shape in slabs(draw.shape):
            buffer = np.empty(shape, self.wide)
            draw.into(buffer, low)
            real = np.dtype(self.wide) if self.pairs else self.dtype
            yield low, buffer.astype(real).astype(np.float64)

    def _draw(self, seed: int) -> Draw:
        return Draw(self.entry, self.distribution, seed, self.exact, self.pairs)

    def _centres(self, seed: int) -> list[tuple[Region, NDArray[Any]]]:
        """Biases that cancel the mean of what comes in: they need their whole weight."""
        found = []
        for part in self.entry.parts:
            if part.kind == "centre":
                weight = self.weights[part.of]
                values = centred_bias(part, weight.shape, weight.pieces(seed), self.pairs)
                region = Region.of(self.entry.shape, part.shape, part.stride, part.offset, self.pairs)
                found.append((region, values))
        return found

    def _numbers(self, array: NDArray[Any]) -> NDArray[Any]:
        return np.stack([array.real, array.imag], axis=-1) if self.pairs else array

    def _rounded(self, buffer: NDArray[Any]) -> NDArray[Any]:
        if self.pairs:
            return (buffer[..., 0] + 1j * buffer[..., 1]).astype(self.dtype)
        return buffer.astype(self.dtype)


@dataclass(frozen=True)
class Present:
    """A weight that keeps its values."""

    values: NDArray[Any]

    @property
    def shape(self) -> Sequence[int]:
        return self.values.shape

    def pieces(self, seed: int) -> Pieces:
        x = self.values
        wide = np.stack([x.real, x.imag], axis=-1) if np.iscomplexobj(x) else x
        for low, shape in slabs(wide.shape):
            yield low, wide[box_at(low, shape)].astype(np.float64)


def fillings(
    plan: PlanData, dtypes: Mapping[str, Any], present: Mapping[str, NDArray[Any]] | None = None
) -> dict[str, Filling]:
    """What a plan puts into arrays of these types, by the names of its entries. `present`: weights that are kept."""
    weights: dict[str, Weight] = {name: Present(values) for name, values in (present or {}).items()}
    made: dict[str, Filling] = {}
    for entry in plan.changed():
        dtype = next((dtypes[name] for name in (entry.name, *entry.aliases) if name in dtypes), None)
        if dtype is not None:
            made[entry.name] = Filling(entry, plan.distribution, plan.exact, np.dtype(dtype), weights)
    weights.update({name: filling for name, filling in made.items() if name not in weights})
    return made


def refuse_types(name: str, array: Any) -> None:
    """Raise if no weights can be drawn in the type of an array."""
    if not is_number(array):
        raise PlanError("weights of this type cannot be drawn", where=name, received=str(array.dtype),
                        fix="initialize in a floating or complex type and convert afterwards, or skip it")  # fmt: skip


def filled(filling: Filling, seed: int, like: Any) -> jax.Array:
    """An array as `like` (an array, or a shape with or without sharding), with new values, shard by shard."""
    kept = not filling.covers
    sharding = getattr(like, "sharding", None)
    if sharding is None or (isinstance(like, jax.Array) and not like.committed):
        whole = [0] * len(like.shape)
        made: jax.Array = jax.device_put(filling.rectangle(seed, whole, like.shape, np.asarray(like) if kept else None))
        return made

    def shard(index: Any) -> Any:
        low = [cut.start or 0 for cut in index]
        high = [n if cut.stop is None else cut.stop for cut, n in zip(index, like.shape, strict=True)]
        shape = [b - a for a, b in zip(low, high, strict=True)]
        return filling.rectangle(seed, low, shape, _piece(like, low, shape) if kept else None)

    return jax.make_array_from_callback(tuple(like.shape), sharding, shard)


def own_memory(shape: Sequence[int], dtype: Any) -> NDArray[Any]:
    """An array that `jax.device_put` takes over without a copy, where devices use the memory of the host."""
    size = prod(shape) * np.dtype(dtype).itemsize
    raw = np.empty(size + ALIGNED, np.uint8)
    start = -raw.ctypes.data % ALIGNED
    made: NDArray[Any] = raw[start : start + size].view(dtype).reshape(tuple(shape))
    return made


def _piece(array: Any, low: Sequence[int], shape: Sequence[int]) -> NDArray[Any]:
    """What a rectangle of an array holds now, where this process has it."""
    wanted = [(a, a + n) for a, n in zip(low, shape, strict=True)]
    for piece in getattr(array, "addressable_shards", ()):
        found = [(c.start or 0, n if c.stop is None else c.stop)
                 for c, n in zip(piece.index, array.shape, strict=True)]  # fmt: skip
        if found == wanted:
            return np.asarray(piece.data)
    return np.asarray(array[box_at(low, shape)])
