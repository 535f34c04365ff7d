"""The description of a model input: shape and second-order statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .signal import Signal, from_array

UNKNOWN_BATCH = 64
"""Size taken for an axis given as None: large enough for its statistics to have settled."""


@dataclass(frozen=True)
class Input:
    """A model input.

    shape: as the model receives it, batch included; None for an axis of unknown (large) size.
    mean, variance: of one entry.
    correlation: of two entries; a number (any two entries), or {axis: number} (entries that differ along that
        axis alone; along several axes the numbers multiply, along axes not named it is zero).
    dtype: a name such as "float32", "bfloat16" or "int64", or the framework's own dtype.
    vocabulary: for integer inputs, values are drawn uniformly from range(vocabulary).
    """

    shape: Sequence[int | None]
    mean: float = 0.0
    variance: float = 1.0
    correlation: float | Mapping[int, float] = 0.0
    dtype: Any = None
    vocabulary: int | None = None

    def __post_init__(self) -> None:
        def fail(why: str, received: Any, fix: str) -> InputError:
            return InputError(why, where="Input", received=received, fix=fix)

        try:
            shape = tuple(None if n is None else int(n) for n in self.shape)
        except TypeError:
            raise fail("a shape is a sequence of sizes", repr(self.shape), "Input((8, 3, 32, 32))") from None
        if any(n is not None and n < 0 for n in shape):
            raise fail("sizes are not negative", shape, "Input((8, 3, 32, 32)); None for an unknown batch size")
        object.__setattr__(self, "shape", shape)
        if not np.isfinite(self.mean) or not np.isfinite(self.variance) or self.variance < 0:
            raise fail(
                "mean is finite and variance finite and not negative", (self.mean, self.variance), "variance=1.0"
            )
        if self.vocabulary is not None and self.vocabulary < 1:
            raise fail("a vocabulary has at least one word", self.vocabulary, "vocabulary=1000")
        values = self.correlation.values() if isinstance(self.correlation, Mapping) else [self.correlation]
        if any(not -1 <= float(r) <= 1 for r in values):
            raise fail("correlations lie between -1 and 1", self.correlation, "correlation={1: 0.5}")
        if isinstance(self.correlation, Mapping):
            bad = [a for a in self.correlation if not -len(shape) <= a < len(shape)]
            if bad:
                raise fail(
                    f"the input has {len(shape)} axes", f"correlation along axis {bad[0]}", "use an axis of the shape"
                )

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(UNKNOWN_BATCH if n is None else n for n in self.shape)

    def signal(self) -> Signal:
        sizes = self.sizes
        K = np.empty((2,) * len(sizes))
        for bits in product((0, 1), repeat=len(sizes)):
            K[bits] = self.mean**2 + self.variance * self._correlation(bits)
        return Signal(sizes, self.mean, K)

    def _correlation(self, bits: tuple[int, ...]) -> float:
        if not any(bits):
            return 1.0
        if isinstance(self.correlation, Mapping):
            along = {a % len(bits): float(r) for a, r in self.correlation.items()}
            return float(np.prod([along.get(a, 0.0) for a, bit in enumerate(bits) if bit]))
        return float(self.correlation)

    def sample(self, rng: np.random.Generator) -> NDArray[Any]:
        """Values with these statistics (integers for a vocabulary)."""
        if self.vocabulary is not None:
            return rng.integers(0, self.vocabulary, self.sizes)
        from .exchangeable import sample

        return sample(self.signal(), rng, None)


def measured_input(array: NDArray[Any]) -> Signal:
    """A real batch: its mean, variance and axis correlations, and nothing else of it."""
    if not np.all(np.isfinite(array)):
        bad = array.size - int(np.count_nonzero(np.isfinite(array)))
        raise InputError(
            "the batch contains NaN or infinite values",
            where="inputs",
            received=f"{bad} such values in shape {array.shape}",
            fix="give finite data, or Input(...)",
        )
    return from_array(array)
