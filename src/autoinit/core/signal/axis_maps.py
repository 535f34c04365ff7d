"""What linear maps along one axis do to the second moments K(S).

If y_o = sum_i a_oi x_i along an axis, then E[y_o y_o'] needs only how often the two summed entries coincide.
Averaged over the places o = o' (same) and o != o' (different) of an output of length N, the pair (K same, K
different) is mapped by the 2 x 2 matrix

    same  <- [ Q / N,              (R - Q) / N            ]
    diff  <- [ (C - Q) / N(N-1),   (T^2 - R - C + Q) / N(N-1) ]

with Q = sum a^2, R = sum of squared row totals, C = sum of squared column totals, T = sum a. It is exact for
every window, stride, dilation, border and overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .profiles import Array


def transform(K: Array, axis: int, matrix: Array) -> Array:
    """Apply a 2 x 2 matrix to the (same, different) pair of one axis."""
    pair = K.reshape(2**axis, 2, -1)
    made = np.empty_like(pair)
    made[:, 0] = matrix[0, 0] * pair[:, 0] + matrix[0, 1] * pair[:, 1]
    made[:, 1] = matrix[1, 0] * pair[:, 0] + matrix[1, 1] * pair[:, 1]
    return made.reshape(K.shape)


def averaged_over(K: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """K of the mean over `axes`, these kept as axes of size 1."""
    for axis in axes:
        n, pair = shape[axis], K.reshape(2**axis, 2, -1)
        mean = pair[:, :1] / n + pair[:, 1:] * (1.0 - 1.0 / n)
        K = np.concatenate([mean, mean], axis=1).reshape(K.shape)
    return K


def window_matrix(taps: NDArray[np.int64], live: NDArray[np.bool_], weights: Array, n_in: int) -> Array:
    """The matrix of the module's text.

    `taps` (outputs, window) are input places, `weights` multiply live taps.
    """
    outputs = taps.shape[0]
    a = np.where(live, weights, 0.0)
    columns = np.bincount(taps[live].ravel(), weights=a[live].ravel(), minlength=n_in)
    q, rows = float(np.sum(a * a)), a.sum(axis=1)
    r, c, total = float(rows @ rows), float(columns @ columns), float(rows.sum())
    same = [q / outputs, (r - q) / outputs]
    if outputs == 1:
        return np.array([same, same])
    pairs = outputs * (outputs - 1.0)
    return np.array([same, [(c - q) / pairs, (total * total - r - c + q) / pairs]])


def window_taps(
    n_in: int, n_out: int, window: int, stride: int, low: int, dilation: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Input places (outputs, window) of a sliding window, and which of them lie inside the input."""
    start = np.arange(n_out, dtype=np.int64)[:, None] * stride - low
    taps = start + np.arange(window, dtype=np.int64)[None, :] * dilation
    live = (taps >= 0) & (taps < n_in)
    return np.where(live, taps, 0), live


def placed(K: Array, axes: Sequence[int], ndim: int) -> Array:
    """The table of a tensor whose axes are `axes` of a tensor of rank `ndim` that it broadcasts to."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    table = np.transpose(K, order)
    for axis in range(ndim):
        if axis not in axes:
            table = np.stack([table, table], axis=axis)
    return table
