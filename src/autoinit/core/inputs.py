"""The description of a model input: shape and second-order statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .checks import brief, numbers, real, whole
from .signal.columns import Described
from .signal.columns import measured as measured_columns
from .signal.profiles import Array
from .signal.samples import eigenvalues, sample
from .signal.signal import Signal

UNKNOWN_BATCH = 64
"""Size taken for an axis given as None: large enough for its statistics to have settled."""
MOST_AXES = 16
MOST_ENTRIES = 2**62
LARGEST_MEAN, LARGEST_VARIANCE = 1e15, 1e30
LARGEST_VOCABULARY = 2**62


@dataclass(frozen=True, eq=False)
class Input:
    """A model input.

    shape: as the model receives it, batch included; None for an axis of unknown (large) size.
    mean, variance: of one entry; or an array with one number for each feature (the last axis), or one that
        broadcasts to the shape and varies along one axis, such as (3, 1, 1) for the channels of images.
    correlation: of two entries; a number (any two entries), or {axis: number} (entries that differ along that
        axis alone; along several axes the numbers multiply, along axes not named it is zero).
    dtype: a name such as "float32", "bfloat16" or "int64", or the framework's own dtype.
    vocabulary: for integer inputs, values are drawn uniformly from range(vocabulary). {column: size} for a floating
        input of which some columns (of the last axis) hold such integers.
    """

    shape: Sequence[int | None]
    mean: float | Sequence[float] | Array = 0.0
    variance: float | Sequence[float] | Array = 1.0
    correlation: float | Mapping[int, float] = 0.0
    dtype: Any = None
    vocabulary: int | Mapping[int, int] | None = None

    def __post_init__(self) -> None:
        shape = _shape(self.shape)
        object.__setattr__(self, "shape", shape)
        for name, least, most in (("mean", -LARGEST_MEAN, LARGEST_MEAN), ("variance", 0.0, LARGEST_VARIANCE)):
            object.__setattr__(self, name, _moment(name, getattr(self, name), shape, least, most))
        object.__setattr__(self, "vocabulary", _vocabulary(self.vocabulary, shape))
        object.__setattr__(self, "correlation", _correlation(self.correlation, shape))
        _check_dtype(self.dtype)
        if self._axis() is None:
            raise _wrong("mean and variance vary along different axes", "two arrays", "arrays along the same axis")
        lowest = float(eigenvalues(self._table(), self.sizes).min())
        if lowest < -1e-9:
            raise _wrong(
                "no tensor of this shape has such correlations: along an axis of size n they are -1/(n - 1) or more",
                f"correlation={brief(self.correlation)} for shape {shape}", "correlation=0.5 or {1: 0.5}",
            )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Input) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.shape)

    def _key(self) -> list[Any]:
        values = [getattr(self, f.name) for f in fields(self)]
        return [v.tolist() if isinstance(v, np.ndarray) else v for v in values]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(UNKNOWN_BATCH if n is None else n for n in self.shape)

    @property
    def integers(self) -> int | None:
        """For an input of integers: how many values there are; None for numbers."""
        return self.vocabulary if isinstance(self.vocabulary, int) else None

    def columns(self) -> Described | None:
        """The columns, if they are unlike."""
        axis = self._axis()
        assert axis is not None
        picked = self.vocabulary if isinstance(self.vocabulary, Mapping) else {}
        if axis < 0:
            return None
        n = self.sizes[axis]
        mean, variance = (np.array(np.broadcast_to(np.ravel(v), (n,)), float) for v in (self.mean, self.variance))
        for column, count in picked.items():  # uniform over 0 ... count - 1
            mean[column], variance[column] = (count - 1) / 2, (count**2 - 1) / 12
        return Described(self.sizes, axis, mean, variance, self._of_pair, dict(picked))

    def _axis(self) -> int | None:
        """The axis along which columns differ; -1 if there is none, None if there are several."""
        rank = len(self.shape)
        arrays = [v for v in (self.mean, self.variance) if isinstance(v, np.ndarray)]
        found = {rank - v.ndim + int(np.argmax(v.shape)) for v in arrays}
        if isinstance(self.vocabulary, Mapping):
            found.add(rank - 1)
        return None if len(found) > 1 else next(iter(found), -1)

    def signal(self) -> Signal:
        columns = self.columns()
        if columns is not None:
            return columns.signal()
        assert isinstance(self.mean, float) and isinstance(self.variance, float)
        return Signal(self.sizes, self.mean, self.mean**2 + self.variance * self._table())

    def _table(self) -> Array:
        """r(S) for every set S of axes."""
        rank = len(self.shape)
        return np.array([self._of_pair(bits) for bits in product((0, 1), repeat=rank)]).reshape((2,) * rank)

    def _of_pair(self, bits: tuple[int, ...]) -> float:
        if not any(bits):
            return 1.0
        if isinstance(self.correlation, Mapping):
            return float(np.prod([self.correlation.get(a, 0.0) for a, bit in enumerate(bits) if bit]))
        return self.correlation

    def sample(self, rng: np.random.Generator) -> NDArray[Any]:
        """Values with these statistics (integers for a vocabulary)."""
        if self.integers is not None:
            return rng.integers(0, self.integers, self.sizes)
        columns = self.columns()
        return columns.sample(rng) if columns is not None else sample(self.signal(), rng, None)


def _wrong(why: str, received: Any, fix: str) -> InputError:
    return InputError(why, where="Input", received=received, fix=fix)


def _shape(given: Any) -> tuple[int | None, ...]:
    fix = "Input((8, 3, 32, 32)); None for an unknown batch size"
    single = whole(given)
    if single is not None:
        fix = f"Input((batch, {single})), batch included: Input((64, {single}))"
    if single is not None or isinstance(given, (str, bytes, Mapping, set)) or not isinstance(given, Iterable):
        raise _wrong("a shape is a sequence of sizes", brief(given), fix)
    shape = tuple(given)
    sizes = [None if n is None else whole(n) for n in shape]
    if any(n is None and size is not None for n, size in zip(sizes, shape, strict=True)):
        raise _wrong("a shape is a sequence of sizes, which are integers", brief(given), fix)
    if any(n is not None and n < 1 for n in sizes):
        raise _wrong("sizes are positive, not negative and not zero", brief(given), fix)
    if len(sizes) > MOST_AXES or prod(n or UNKNOWN_BATCH for n in sizes) > MOST_ENTRIES:
        raise _wrong(f"no tensor has this shape (at most {MOST_AXES} axes)", brief(given), fix)
    return tuple(sizes)


def _moment(name: str, given: Any, shape: tuple[int | None, ...], least: float, most: float) -> float | Array:
    """A number, or an array that varies along one axis of the shape."""
    number = real(given)
    values = np.array(number) if number is not None else numbers(given)
    rule = "mean is finite and variance finite and not negative"
    if values is None or values.size == 0:
        raise _wrong(f"{rule}; each is a number, or one per feature", f"{name}={brief(given)}", f"{name}=1.0")
    if values.min() < least or values.max() > most:
        raise _wrong(f"{rule} (from {least:g} to {most:g})", f"{name}={brief(given)}", f"{name}=1.0")
    if number is not None:
        return number
    if not _along_one_axis(values.shape, shape):
        raise _wrong(
            f"an array of {name}s has one number for each place of one axis of the shape {shape}",
            f"{name} of shape {values.shape}", f"{name}=np.ones({shape[-1] if shape else 1})",
        )  # fmt: skip
    if values.size == 1:
        return float(values.flat[0])
    values.flags.writeable = False
    return values


def _along_one_axis(given: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Whether an array broadcasts to the trailing axes of a shape and has as many places as exactly one of them."""
    if not 0 < len(given) <= len(shape):
        return False
    trailing = shape[len(shape) - len(given) :]
    long = [n for n in given if n > 1]
    fits = all(n in (1, size) for n, size in zip(given, trailing, strict=True))
    return fits and (len(long) == 1 or (not long and trailing[-1] == 1))


def _vocabulary(given: Any, shape: tuple[int | None, ...]) -> int | dict[int, int] | None:
    if isinstance(given, Mapping):
        return {_column(column, shape): _count(count, given, 2**53) for column, count in given.items()}
    return None if given is None else _count(given, given)


def _count(value: Any, given: Any, most: int = LARGEST_VOCABULARY) -> int:
    count = whole(value)
    if count is None or not 1 <= count <= most:
        raise _wrong("a vocabulary is an integer and has at least one word", brief(given), "vocabulary=1000")
    return count


def _column(value: Any, shape: tuple[int | None, ...]) -> int:
    column, n = whole(value), (shape[-1] or UNKNOWN_BATCH) if shape else 0
    if column is None or not -n <= column < n:
        fix = "vocabulary={0: 1000} for the first column"
        raise _wrong(f"the last axis has {n} columns", f"a vocabulary for column {brief(value)}", fix)
    return column % n


def _correlation(given: Any, shape: tuple[int | None, ...]) -> float | dict[int, float]:
    if not isinstance(given, Mapping):
        return _coefficient(given, given)
    made: dict[int, float] = {}
    for axis, value in given.items():
        place = whole(axis)
        if place is None or not -len(shape) <= place < len(shape) or place % len(shape) in made:
            why = f"the input has {len(shape)} axes, each may be named once"
            raise _wrong(why, f"correlation along axis {brief(axis)}", "use an axis of the shape")
        made[place % len(shape)] = _coefficient(value, given)
    return made


def _coefficient(value: Any, given: Any) -> float:
    number = real(value)
    if number is None or not -1 <= number <= 1:
        raise _wrong("correlations are numbers between -1 and 1", brief(given), "correlation={1: 0.5}")
    return number


def _check_dtype(given: Any) -> None:
    """What frameworks call their dtypes is for them to say; a number or a list is none."""
    nonsense = isinstance(given, (bool, int, float, complex, bytes, Mapping, Sequence, np.ndarray))
    if (nonsense and not isinstance(given, str)) or (isinstance(given, str) and not given.strip()):
        raise _wrong("unknown dtype", brief(given), "dtype='float32' or 'int64'")


def measured_input(array: NDArray[Any]) -> Signal:
    """A real batch: its mean, variance and axis correlations (per column where columns are unlike)."""
    bad = array.size - int(np.count_nonzero(np.isfinite(array)))
    if bad:
        raise InputError("the batch contains NaN or infinite values", where="inputs",
                         received=f"{bad} such values in shape {array.shape}",
                         fix="give finite data, or Input(...)")  # fmt: skip
    return measured_columns(array)
