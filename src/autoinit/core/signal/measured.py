"""The moments of an array that is there."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .profiles import Array
from .signal import Signal, constant


def from_array(array: NDArray[Any]) -> Signal:
    """Measure m and every K(S) from the array itself; of a complex one K(S) = E[z conj(z')], so that E|z|^2 is kept.

    With M(B) = mean over the other axes of (mean over axes in B)^2 one has, axis by axis,
    M(with a) = K(same)/n + (1 - 1/n) K(different), which is inverted along each axis in turn.
    """
    if np.iscomplexobj(array):
        real, imaginary = from_array(array.real), from_array(array.imag)
        return Signal(real.shape, real.mean, real.K + imaginary.K)
    if not array.any():
        return constant(array.shape, 0.0)
    x = np.asarray(array, dtype=np.float64)
    K = np.empty((2,) * x.ndim)
    partial: dict[tuple[int, ...], Array] = {(): x}
    for subset in product((0, 1), repeat=x.ndim):
        axes = tuple(a for a in range(x.ndim) if subset[a])
        if axes:
            inner = partial[axes[:-1]]
            partial[axes] = np.add.reduce(inner, axis=axes[-1], keepdims=True) / inner.shape[axes[-1]]
        K[subset] = np.vdot(partial[axes], partial[axes]) / partial[axes].size
    for a, n in enumerate(x.shape):
        if n > 1:
            pair = K.reshape(1 << a, 2, -1)
            pair[:, 1] = (pair[:, 1] - pair[:, 0] / n) / (1 - 1 / n)
    return Signal(x.shape, float(np.add.reduce(x, axis=None)) / x.size, K)
