"""The moments of an array that is there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .profiles import Array
from .signal import Signal, constant


def from_array(array: NDArray[Any]) -> Signal:
    """Measure m and every K(S) from the array itself.

    With M(B) = mean over the other axes of (mean over axes in B)^2 one has, axis by axis,
    M(with a) = K(same)/n + (1 - 1/n) K(different), which is inverted along each axis in turn.
    """
    x = np.asarray(array, dtype=np.float64)
    d = x.ndim
    if not x.size:
        return constant(x.shape, 0.0)
    if d <= 1:
        return _from_vector(x)
    K = np.empty((2,) * d)
    partial: dict[tuple[int, ...], Array] = {(): x}
    for subset in np.ndindex(*(2,) * d):
        axes = tuple(a for a in range(d) if subset[a])
        if axes:
            partial[axes] = partial[axes[:-1]].mean(axis=axes[-1], keepdims=True)
        y = partial[axes]
        K[subset] = float(np.mean(np.square(y)))
    for a, n in enumerate(x.shape):
        if n > 1:
            same, both = np.take(K, 0, axis=a), np.take(K, 1, axis=a)
            K = np.stack([same, (both - same / n) / (1 - 1 / n)], axis=a)
    return Signal(x.shape, float(x.mean()), K)


def _from_vector(x: Array) -> Signal:
    """`from_array` for one axis: E[x x'] over different places is ((sum x)^2 - sum x^2)/(n (n - 1))."""
    if x.ndim == 0:
        return Signal((), float(x), np.square(x))
    n, total, squares = x.size, float(x.sum()), float(x @ x)
    other = (total * total - squares) / (n * (n - 1)) if n > 1 else squares
    return Signal(x.shape, total / n, np.array([squares / n, other]))


def measured(array: NDArray[Any]) -> Signal:
    """Moments of an array; of a complex one K(S) = E[z conj(z')], so that E|z|^2 is what is kept."""
    if not np.iscomplexobj(array):
        return from_array(array)
    real, imaginary = from_array(array.real), from_array(array.imag)
    return Signal(real.shape, real.mean, real.K + imaginary.K)
