"""Inputs whose columns are unlike: features of other scales, numbers beside indices, in one tensor.

A signal describes a tensor by the average over its places. For a layer that contracts the whole tensor this is exact:
with fresh weights E[y^2] = s^2 sum_j E[x_j^2]. A model that cuts such an input up (`x[:, :3]`), subtracts a table from
it or applies a function to it asks for single columns, though. So the signal of such an input remembers its columns,
and `core.dependence.places` asks them for the part that a cut goes back to.

For columns with means m_j, variances v_j and a correlation r(S) of two entries that differ exactly on S

    m    = mean_j m_j
    K(S) = mean_j (m_j^2 + v_j r(S))                       the same column
    K(S) = mean over i != j of (m_i m_j + s_i s_j r(S))    another column,   s = sqrt(v).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .measured import from_array
from .profiles import Array
from .samples import gaussian_array, sample
from .signal import Signal

FEWEST = 4
"""From fewer samples than this nothing can be said about single columns."""
CERTAIN = 6.0
"""Columns are unlike if they differ by more than so many standard errors ..."""
FACTOR, SHIFT = 2.0, 0.5
"""... and by this factor in their mean squares, or by so many standard deviations in their means."""

Correlation = Callable[[tuple[int, ...]], float]


@dataclass(frozen=True, eq=False)
class Described:
    """Columns by their means and variances, along one axis."""

    sizes: tuple[int, ...]
    axis: int
    mean: Array
    variance: Array
    correlation: Correlation
    integers: dict[int, int]
    """Columns that hold whole numbers below so many."""

    @property
    def axes(self) -> tuple[int, ...]:
        return (self.axis,)

    def part(self, axis: int, start: int, stop: int) -> Signal:
        sizes = tuple(stop - start if a == axis else n for a, n in enumerate(self.sizes))
        mean, variance = self.mean[start:stop], self.variance[start:stop]
        std, first, other = np.sqrt(variance), float(np.mean(mean**2)), _pairs(mean)
        together = _pairs(std)
        K = np.empty((2,) * len(sizes))
        for bits in product((0, 1), repeat=len(sizes)):
            r = self.correlation(bits)
            K[bits] = other + together * r if bits[axis] else first + float(np.mean(variance)) * r
        return Signal(sizes, float(np.mean(mean)), K)

    def sample(self, rng: np.random.Generator) -> NDArray[np.float64]:
        table = np.empty((2,) * len(self.sizes))
        for bits in product((0, 1), repeat=len(self.sizes)):
            table[bits] = self.correlation(bits)
        along = [1] * len(self.sizes)
        along[self.axis] = -1
        drawn = gaussian_array(0.0, table, self.sizes, rng) * np.sqrt(self.variance).reshape(along)
        drawn = drawn + self.mean.reshape(along)
        places = np.moveaxis(drawn, self.axis, 0)
        for column, count in self.integers.items():
            places[column] = rng.integers(0, count, places[column].shape)
        return drawn

    def signal(self) -> Signal:
        return self.part(self.axis, 0, self.sizes[self.axis]).but(columns=self)


def _pairs(values: Array) -> float:
    """The mean of a_i a_j over i != j; of one value its square."""
    n, total = values.size, float(values.sum())
    squares = float(values @ values)
    return (total * total - squares) / (n * (n - 1)) if n > 1 else squares


@dataclass(frozen=True, eq=False)
class Measured:
    """The columns of a real batch."""

    array: NDArray[Any]
    axes: tuple[int, ...]

    def part(self, axis: int, start: int, stop: int) -> Signal:
        cut = (slice(None),) * axis + (slice(start, stop),)
        return from_array(self.array[cut])

    def sample(self, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.array(self.array, dtype=np.float64)


Columns = Described | Measured


def measured(array: NDArray[Any]) -> Signal:
    """The moments of a real batch, and its columns where they are unlike."""
    made = from_array(array)
    axes = unlike_axes(array)
    return made.but(columns=Measured(array, axes)) if axes else made


def unlike_axes(array: NDArray[Any]) -> tuple[int, ...]:
    """Axes after the first along which some place clearly differs from the others.

    The mean square of a column has a relative standard error of about sqrt(2/N) for N samples, its mean s/sqrt(N). Two
    places of one sample (pixels, steps) are not independent: n of them count as sqrt(n).
    """
    if array.ndim < 2 or not array.size:
        return ()
    found = []
    for axis in range(1, array.ndim):
        samples = array.shape[0] * (array.size / array.shape[0] / array.shape[axis]) ** 0.5
        if array.shape[axis] > 1 and samples >= FEWEST and _unlike(array, axis, samples):
            found.append(axis)
    return tuple(found)


def _unlike(array: NDArray[Any], axis: int, samples: float) -> bool:
    others = tuple(a for a in range(array.ndim) if a != axis)
    mean, square = array.mean(axis=others), np.square(array).mean(axis=others)
    middle = float(np.median(square))
    largest = float(square.max())
    if largest <= 0.0:
        return False
    factor = max(FACTOR, float(np.exp(CERTAIN * np.sqrt(2.0 / samples))))
    if middle <= 0.0 or largest > factor * middle or float(square.min()) * factor < middle:
        return True
    std = float(np.sqrt(max(np.mean(square - mean**2), 0.0)))
    far = float(np.max(np.abs(mean - np.mean(mean))))
    return bool(far > max(SHIFT, CERTAIN / np.sqrt(samples)) * std + 1e-6 * largest**0.5)


def noise_like(x: Signal, batch: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Noise with the moments of a batch, and none of its values; column by column where these are unlike.

    Columns of whole numbers, which may be looked up, stay whole numbers within their range.
    """
    if not isinstance(x.columns, Measured):
        return sample(x, rng)
    others = tuple(a for a in range(batch.ndim) if a not in x.columns.axes)
    mean, std = batch.mean(axis=others, keepdims=True), batch.std(axis=others, keepdims=True)
    drawn = np.clip(mean + std * rng.standard_normal(batch.shape), batch.min(axis=others, keepdims=True),
                    batch.max(axis=others, keepdims=True))  # fmt: skip
    whole = (batch == np.rint(batch)).all(axis=others, keepdims=True)
    return np.asarray(np.where(whole, np.rint(drawn), drawn))
