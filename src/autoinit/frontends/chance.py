"""How often two places of an index array hold the same index."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 4096


def equal_chance(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """P(index_i = index_j) for i, j that differ exactly on each subset of axes; None for no indices at all.

    Along a set B of axes the mean number of equal pairs is sum_v (share of v)^2; inverted axis by axis as in
    `core.signal.from_array`.
    """
    if array.size == 0:
        return None
    while array.size > MOST:
        axis = int(np.argmax(array.shape))
        array = np.take(array, np.arange((array.shape[axis] + 1) // 2), axis=axis)
    _, codes = np.unique(array, return_inverse=True)
    codes = codes.reshape(array.shape)
    d = array.ndim
    K = np.ones((2,) * d)
    for subset in np.ndindex(*(2,) * d):
        averaged = [a for a in range(d) if subset[a]]
        if not averaged:
            continue
        kept = [a for a in range(d) if not subset[a]]
        rows = codes.transpose(kept + averaged).reshape(int(np.prod([array.shape[a] for a in kept])), -1)
        K[subset] = _mean_squared_shares(rows)
    for a, n in enumerate(array.shape):
        same, both = np.take(K, 0, axis=a), np.take(K, 1, axis=a)
        other = (both - same / n) / (1 - 1 / n) if n > 1 else same
        K = np.stack([same, other], axis=a)
    return np.clip(K, 0.0, 1.0)


def _mean_squared_shares(rows: np.ndarray[Any, Any]) -> float:
    """Mean over rows of sum over values of (count / length)^2, from run lengths of the sorted rows."""
    ordered = np.sort(rows, axis=1)
    n = rows.shape[1]
    starts = np.concatenate([np.ones((len(rows), 1), bool), ordered[:, 1:] != ordered[:, :-1]], axis=1)
    lengths = np.diff(np.append(np.flatnonzero(starts.ravel()), rows.size))
    return float(np.sum(lengths.astype(float) ** 2) / (len(rows) * n * n))
