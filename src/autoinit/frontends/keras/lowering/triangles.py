"""Tables of zeros and ones that cut out a triangle."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Constant, Value
from .operands import known_array, reference_of, shape_of

if TYPE_CHECKING:
    from ..call import Call

LARGEST = 2**22
"""Tables with more entries are not looked at."""


def triangle_of(call: Call, x: Any, table: Any) -> tuple[bool, int] | None:
    """(lower, diagonal) if ``x * table`` is the triangle of x over its last two axes; else None."""
    shape = shape_of(call.outputs[0])
    n, m = shape[-2:] if len(shape) > 1 else (0, 0)
    held = shape_of(table)
    if min(n, m) < 2 or held[-2:] != (n, m) or prod(held) != n * m or n * m > LARGEST or shape_of(x) != shape:
        return None
    if not isinstance(reference_of(call, table), Constant) or not isinstance(reference_of(call, x), Value):
        return None
    array = known_array(call, table)
    if array is None or np.size(array) != n * m:  # no values, or one value for all
        return None
    return shape_of_ones(np.asarray(array, np.float64).reshape(n, m))


def shape_of_ones(array: np.ndarray[Any, Any]) -> tuple[bool, int] | None:
    """(lower, diagonal) of a matrix that is ``tril(ones, diagonal)`` or ``triu(ones, diagonal)``."""
    if not np.isin(array, (0.0, 1.0)).all() or array.all() or not array.any():
        return None
    rows, columns = np.nonzero(array)
    distance = columns - rows
    n, m = array.shape
    if np.array_equal(array, np.tri(n, m, int(distance.max()))):
        return True, int(distance.max())
    if np.array_equal(array, 1.0 - np.tri(n, m, int(distance.min()) - 1)):
        return False, int(distance.min())
    return None
