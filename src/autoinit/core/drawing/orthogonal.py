"""Orthogonal matrices from the same bits as independent entries: the factor Q of a matrix of normal numbers.

This needs the whole matrix, wherever it is only a shard that is wanted. The factorisation is LAPACK's, whose last bits
depend on the machine and its number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray


def orthogonal(gaussian: NDArray[Any], rows: Sequence[int], groups: int, std: float) -> NDArray[Any]:
    """Orthogonal (of complex numbers: unitary) rows per group, or columns if these are fewer; mean square `std`^2.

    A matrix with orthonormal rows or columns has entries of mean square 1/max(rows, columns).
    """
    shape = gaussian.shape
    order = [*rows, *(a for a in range(len(shape)) if a not in rows)]
    count = prod(shape[a] for a in rows)
    groups = groups if groups > 1 and count % groups == 0 else 1
    matrices = gaussian.transpose(order).reshape(groups, count // groups, -1)
    made = np.empty_like(matrices)
    for g, matrix in enumerate(matrices):
        upright = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
        q, r = np.linalg.qr(upright)
        diagonal = np.diagonal(r)
        size = np.abs(diagonal)
        q = q * np.where(size > 0, diagonal / np.where(size > 0, size, 1), 1)
        made[g] = q if upright is matrix else q.T
    made *= std * max(matrices.shape[1:]) ** 0.5
    return made.reshape([shape[a] for a in order]).transpose(np.argsort(order))
