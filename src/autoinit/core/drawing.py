"""Drawing weights in NumPy, for frameworks whose own generators differ from backend to backend.

Every part of a parameter has a generator of its own, seeded by the user's seed and the parameter's name.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from .plan import ParameterPlan, PartPlan
from .plan_check import inside
from .sampling import CUT, TRUNCATED_STD, UNIFORM_BOUND, name_seed

Array = NDArray[Any]

INDEPENDENT = ("truncated_normal", "normal", "uniform")
CHUNK = 2**20


def kind_of(part: PartPlan, distribution: str) -> str:
    return distribution if part.kind == "random" else part.kind


def covers(plan: ParameterPlan) -> bool:
    """Whether a part leaves nothing of the parameter's old values: it lies inside, and holds no entry twice."""
    return any(prod(part.shape) == prod(plan.shape) for part in plan.parts)


def fill(flat: Array, plan: ParameterPlan, distribution: str, seed: int, exact: bool = False) -> None:
    """Draw every part of a parameter into `flat`, its entries in C order. Centring biases become zero."""
    for k, part in enumerate(plan.parts):
        if 0 in part.shape:
            continue
        rng = np.random.default_rng(name_seed(seed, plan.name, k))
        view, kind = region(flat, part.shape, part.stride, part.offset), kind_of(part, distribution)
        draw(view, part, kind, rng)
        if exact and kind in INDEPENDENT and view.size > 1:
            view -= view.mean(dtype=np.float64)
            view *= part.std / max(float(np.sqrt(np.mean(np.square(view, dtype=np.float64)))), 1e-30)


def region(flat: Array, shape: list[int], stride: list[int], offset: int) -> Array:
    """The strided part of a parameter, to write to."""
    if not inside(shape, stride, offset, flat.size):  # NumPy would read and write what lies behind
        raise PlanError("a part lies outside of its parameter", where="Plan.apply",
                        received=f"shape {shape}, stride {stride}, offset {offset} of {flat.size} entries",
                        fix="make the plan again")  # fmt: skip
    return np.lib.stride_tricks.as_strided(flat[offset:], tuple(shape), tuple(s * flat.itemsize for s in stride))


def draw(view: Array, part: PartPlan, kind: str, rng: np.random.Generator) -> None:
    """Fill `view` in place; the values do not depend on how it lies in memory."""
    if kind == "constant":
        view[...] = part.std
    elif kind == "centre":  # written when the weight that it belongs to is drawn
        view[...] = 0.0
    elif kind == "orthogonal":
        view[...] = orthogonal(view.shape, part, rng)
    elif view.flags.c_contiguous:
        _independent(view.reshape(-1), part.std, kind, rng)
    else:
        dense = np.empty(view.size, dtype=view.dtype)
        _independent(dense, part.std, kind, rng)
        view[...] = dense.reshape(view.shape)


def _independent(out: Array, std: float, kind: str, rng: np.random.Generator) -> None:
    """Independent values with standard deviation `std`, a chunk at a time."""
    wide = np.float64 if out.dtype == np.float64 else np.float32
    for start in range(0, out.size, CHUNK):
        n = min(CHUNK, out.size - start)
        made: Array
        if kind == "normal":
            made = rng.standard_normal(n, dtype=wide) * wide(std)
        elif kind == "uniform":
            made = (rng.random(n, dtype=wide) * wide(2.0) - wide(1.0)) * wide(UNIFORM_BOUND * std)
        elif kind == "truncated_normal":
            made = _truncated_normal(n, rng, wide) * wide(std / TRUNCATED_STD)
        else:
            raise PlanError("the plan asks for a filling that does not exist", where="Plan.apply", received=kind,
                            fix="make a new plan")  # fmt: skip
        out[start : start + n] = made


def _truncated_normal(n: int, rng: np.random.Generator, wide: Any) -> Array:
    """A unit normal cut at `CUT`: what lies outside is drawn again."""
    made: Array = rng.standard_normal(n, dtype=wide)
    outside = np.flatnonzero(np.abs(made) > CUT)
    while outside.size:
        again = rng.standard_normal(outside.size, dtype=wide)
        made[outside] = again
        outside = outside[np.abs(again) > CUT]
    return made


def orthogonal(shape: tuple[int, ...], part: PartPlan, rng: np.random.Generator) -> Array:
    """Orthogonal rows (or columns, whichever are fewer) per group, with mean square `std`^2 per entry.

    A matrix with orthonormal rows or columns has entries of mean square 1/max(rows, columns).
    """
    order = [*part.rows, *(a for a in range(len(shape)) if a not in part.rows)]
    rows = prod(shape[a] for a in part.rows)
    groups = part.groups if part.groups > 1 and rows % part.groups == 0 else 1
    per_group, columns = rows // groups, prod(shape) // rows
    tall, narrow = max(per_group, columns), min(per_group, columns)
    made = np.empty((groups, per_group, columns), dtype=np.float32)
    for g in range(groups):
        q, r = np.linalg.qr(rng.standard_normal((tall, narrow), dtype=np.float32))
        q = q * np.sign(np.diagonal(r))
        made[g] = q if per_group >= columns else q.T
    made *= part.std * tall**0.5
    return made.reshape([shape[a] for a in order]).transpose(np.argsort(order))


def centred_bias(weight: Array, part: PartPlan) -> Array:
    """b = -mu * (sum of the weight over its fan), for the weight's own (freshly drawn) entries in C order."""
    view = region(weight, part.of_shape, part.of_stride, part.of_offset).astype(np.float64)
    return (-part.value * row_sums(view, part.rows, part.groups)).reshape(part.shape)


def row_sums(weight: Array, rows: list[int], groups: int) -> Array:
    """The sum over the fan of every output.

    Outputs run along `rows`. Where that is not the first axis (a transposed convolution: inputs, outputs per group,
    taps) the groups divide the inputs.
    """
    if groups > 1 and 0 not in rows:
        weight = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        kept = (0, *(r + 1 for r in rows))
    else:
        kept = tuple(rows)
    summed: Array = weight.sum(axis=tuple(a for a in range(weight.ndim) if a not in kept))
    return summed.reshape(-1)
