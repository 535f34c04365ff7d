"""What is set is random: an invariant of every initialized model.

For every parameter that a plan has drawn, three things are looked at, region by region.

* *Distinct entries.* As many different values as independent draws of the same number format would have: half of them
  at least (bfloat16 has few numbers; ties there are expected).
* *No constant axis.* Somewhere along every axis the entries differ.
* *No collapsed spectrum.* The effective rank (sum s^2)^2 / sum s^4 of the singular values s, for the matrix of outputs
  by fan and for every axis against the rest. Independent entries of an m x n matrix have mn/(m + n + 1) on average, an
  orthogonal one min(m, n); less than half of the former is a collapse.

Front ends' tests, the zoos and anyone who extends the library may call it::

    assert not violations(plan, {name: values of the parameter, ...})
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.drawing.regions import Region
from ..core.plan.plan import PartPlan, PlanData

MOST_ENTRIES = 2**15
"""Of larger regions as many entries are looked at for ties."""
MOST_ROWS = 256
"""Of larger matrices as many rows and columns."""
LEAST = 0.5
MANTISSAS = (3, 4, 8, 11, 24, 53)
"""Bits of float8 (two kinds), bfloat16, float16, float32, float64."""
DRAWN = ("random", "uniform", "orthogonal", "normal", "truncated_normal")


@dataclass(frozen=True)
class Violation:
    """A parameter that is set, and in which way it is not random."""

    parameter: str
    why: str

    def __str__(self) -> str:
        return f"{self.parameter}: {self.why}"


def violations(plan: PlanData, values: Mapping[str, NDArray[Any]]) -> list[Violation]:
    """Every way in which a parameter with the action "set" is not random; `values` has them by their plan's names."""
    found = []
    for entry in plan.parameters:
        if entry.action != "set" or entry.name not in values:
            continue
        array = np.asarray(values[entry.name])
        if array.dtype.kind not in "fc":  # bfloat16 and other formats that NumPy does not know itself
            array = array.astype(np.float32)
        for part in entry.parts:
            if part.kind in DRAWN and part.std > 0:
                block = _cut_out(array, part)
                found += [Violation(entry.name, why) for why in _faults(block, part)]
    return found


def _cut_out(array: NDArray[Any], part: PartPlan) -> NDArray[Any]:
    region = Region.of(array.shape, part.shape, part.stride, part.offset)
    strides = tuple(s * array.itemsize for s in region.stride)
    flat = np.ascontiguousarray(array).reshape(-1)
    return np.lib.stride_tricks.as_strided(flat[region.offset :], region.shape, strides, writeable=False)


def _faults(block: NDArray[Any], part: PartPlan) -> Iterator[str]:
    if np.iscomplexobj(block):
        block = np.stack([block.real, block.imag], axis=-1)
    if not np.isfinite(block).all():
        yield "holds numbers that are not finite"
        return
    if block.size < 2:
        return
    tied = _tied(block)
    if tied:
        yield tied
    for axis, n in enumerate(block.shape):
        if n > 1 and not np.any(np.diff(block, axis=axis)):
            yield f"constant along axis {axis} of {block.shape}"
    for rows in {tuple(part.rows), *((axis,) for axis in range(block.ndim))}:
        if rows and max(rows) < block.ndim:
            fault = _collapsed(block, rows)
            if fault:
                yield fault


def _tied(block: NDArray[Any]) -> str:
    rng = np.random.default_rng(0)
    entries = np.asarray(block.reshape(-1), np.float64)
    if entries.size > MOST_ENTRIES:
        entries = entries[np.sort(rng.choice(entries.size, MOST_ENTRIES, replace=False))]
    bits = _bits(entries)
    expected = len(np.unique(_rounded(rng.standard_normal(entries.size), bits)))
    distinct = len(np.unique(entries))
    return f"{distinct} distinct values among {entries.size}" if distinct < LEAST * expected else ""


def _bits(entries: NDArray[np.float64]) -> int:
    """The number format that the entries were rounded to."""
    return next((bits for bits in MANTISSAS if np.array_equal(_rounded(entries, bits), entries)), MANTISSAS[-1])


def _rounded(entries: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    mantissa, exponent = np.frexp(entries)
    rounded: NDArray[np.float64] = np.ldexp(np.round(mantissa * 2.0**bits), exponent - bits)
    return rounded


def _collapsed(block: NDArray[Any], rows: tuple[int, ...]) -> str:
    order = [*rows, *(axis for axis in range(block.ndim) if axis not in rows)]
    matrix = np.asarray(block.transpose(order)).reshape(prod(block.shape[axis] for axis in rows), -1)
    matrix = np.asarray(_some(_some(matrix, 0), 1), np.float64)
    m, n = matrix.shape
    if min(m, n) < 2:
        return ""
    matrix = matrix / max(float(np.abs(matrix).max()), 1e-300)
    gram = matrix @ matrix.T if m <= n else matrix.T @ matrix
    rank = float(np.trace(gram)) ** 2 / max(float(np.sum(gram * gram)), 1e-300)
    expected = m * n / (m + n + 1)
    if rank < LEAST * expected:
        return f"effective rank {rank:.3g} of {m}x{n} entries, where independent ones have {expected:.3g}"
    return ""


def _some(matrix: NDArray[Any], axis: int) -> NDArray[Any]:
    """At most `MOST_ROWS` of an axis, evenly spaced."""
    n = matrix.shape[axis]
    if n <= MOST_ROWS:
        return matrix
    return np.take(matrix, np.linspace(0, n - 1, MOST_ROWS).astype(int), axis=axis)
