"""A rectangle of a parameter as stretches of entries that follow each other in C order.

Along the last axes that the rectangle has whole, and the one before them, entries are neighbours: one stretch. Where
stretches are short (a few columns of a wide matrix), the words of many are gathered before they are made numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan.weights import c_strides
from . import threads
from .unit import unit
from .words import Words

Array = NDArray[Any]

CHUNK = 2**16
"""Entries that are worked on at a time: they stay in the cache."""
SHORT = 2**11
"""Stretches below this length are drawn many at a time."""
WORTH_A_JUMP = 2**10
"""So many entries between two stretches are rather jumped over than drawn and thrown away."""
TASK = 2**19
"""Entries that are worth a thread's while."""
SLAB = 2**20
"""Entries of a parameter that sums over it look at together: always the same ones, however it is cut."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """scale (x - shift) with x the unit numbers of a parameter."""

    key: int
    shape: Sequence[int]
    kind: str
    scale: float = 1.0
    shift: float = 0.0

    def draw(self, out: Array, low: Sequence[int]) -> None:
        """The rectangle out.shape at `low`."""
        if out.ndim == 0:
            self._stretch(Words(self.key), out.reshape(1), 0)
        elif out.size:
            threads.run(
                partial(self._piece, out[box_at(start, shape)], [int(a) + b for a, b in zip(low, start, strict=True)])
                for start, shape in slabs(out.shape, TASK)
            )

    def _piece(self, out: Array, low: Sequence[int]) -> None:
        words, strides = Words(self.key), c_strides(tuple(self.shape))
        whole = out.ndim
        while whole > 0 and out.shape[whole - 1] == self.shape[whole - 1]:
            whole -= 1
        along = max(whole - 1, 0)  # stretches run along this axis and the whole ones behind it
        length = prod(out.shape[along:])
        base = sum(n * s for n, s in zip(low, strides, strict=True))
        rows = along - 1 if along and length < SHORT else along  # short stretches are drawn many at a time
        for index in np.ndindex(*out.shape[:rows]):
            start = base + sum(i * s for i, s in zip(index, strides, strict=False))
            target = out[index]
            flat = target.reshape(-1) if target.flags.c_contiguous else np.empty(target.size, dtype=out.dtype)
            if rows == along:
                self._stretch(words, flat, start)
            else:
                self._short_ones(words, flat.reshape(-1, length), start, strides[rows])
            if not target.flags.c_contiguous:
                target[...] = flat.reshape(target.shape)

    def _stretch(self, words: Words, flat: Array, start: int) -> None:
        """Fill a flat array with the entries from `start` on."""
        for at in range(0, flat.size, CHUNK):
            n = min(CHUNK, flat.size - at)
            self._write(flat[at : at + n], words.read(start + at, n))

    def _short_ones(self, words: Words, out: Array, start: int, apart: int) -> None:
        """Fill every row with a stretch; the first begins at `start`, the others `apart` from each other."""
        count, length = out.shape
        many = max(CHUNK // length, 1)
        for a in range(0, count, many):
            n, first = min(many, count - a), start + a * apart
            if apart - length > WORTH_A_JUMP:
                read = np.concatenate([words.read(first + k * apart, length) for k in range(n)])
            else:
                between = words.read(first, (n - 1) * apart + length)
                read = np.concatenate([between[k * apart : k * apart + length] for k in range(n)])
            self._write(out[a : a + n].reshape(-1), read)

    def _write(self, flat: Array, words: NDArray[np.uint32]) -> None:
        """In the precision of the array."""
        number = np.float64 if flat.dtype == np.float64 else np.float32
        x: Array = unit(words, self.kind).astype(number, copy=False)
        if self.shift:
            np.subtract(x, number(self.shift), out=x)
        np.multiply(x, number(self.scale), out=flat, casting="same_kind")


def slabs(shape: Sequence[int], size: int = SLAB) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Rectangles (low, shape) that make up an array, of at most about `size` entries."""
    if not shape:
        yield [], ()
        return
    per_row = prod(shape[1:])
    if per_row > size:
        for k in range(shape[0]):
            for low, rest in slabs(shape[1:], size):
                yield [k, *low], (1, *rest)
        return
    step = max(size // max(per_row, 1), 1)
    for start in range(0, shape[0], step):
        yield [start, *[0] * (len(shape) - 1)], (min(step, shape[0] - start), *shape[1:])


def box_at(low: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """The index of a rectangle."""
    return tuple(slice(a, a + n) for a, n in zip(low, shape, strict=True))
