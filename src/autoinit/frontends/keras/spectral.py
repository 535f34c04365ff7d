"""Spectral normalisation: in training a layer's kernel is divided by an estimate of its top singular value.

The scale of the kernel has no effect then, whatever it is set to: the effective kernel is accounted as it comes out.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from keras import KerasTensor, Operation, ops

from ...core.signal.signal import Signal, iid
from .variables import values_of


class SpectralKernel(Operation):
    """The kernel that a `keras.layers.SpectralNormalization` gives to its layer, as an operation."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def call(self, kernel: Any) -> Any:
        matrix = ops.reshape(kernel, (-1, kernel.shape[-1]))
        u = ops.cast(self.layer.vector_u.value, matrix.dtype)
        v = u
        for _ in range(self.layer.power_iterations):
            v = _unit(ops.matmul(u, ops.transpose(matrix)))
            u = _unit(ops.matmul(v, matrix))
        sigma = ops.matmul(ops.matmul(v, matrix), ops.transpose(u))
        return ops.reshape(ops.divide(matrix, sigma), kernel.shape)

    def compute_output_spec(self, kernel: Any) -> Any:
        return KerasTensor(kernel.shape, dtype=kernel.dtype)


def _unit(x: Any) -> Any:
    return ops.divide(x, ops.sqrt(ops.sum(ops.square(x))) + 1e-12)


def normalised(layer: Any, kernel: Signal) -> Signal:
    """W / sigma, sigma being what the layer's own power iteration finds for the present direction of W.

    Without values sigma is the top singular value of an i.i.d. r x c matrix, std (sqrt r + sqrt c).
    """
    columns = int(layer.kernel.shape[-1])
    rows = max(int(np.prod(layer.kernel.shape)) // columns, 1)
    level = _level(layer) or 1.0 / (sqrt(rows) + sqrt(columns))
    return kernel.scaled(level / sqrt(kernel.second)) if kernel.second > 0 else iid(kernel.shape, 0.0, level**2)


def _level(layer: Any) -> float | None:
    """Root mean square of the entries over sigma; None without values."""
    kernel, start = values_of(layer.kernel), values_of(layer.vector_u)
    if kernel is None or start is None:
        return None
    matrix = kernel.reshape(-1, kernel.shape[-1]).astype(float)
    u = v = start.astype(float)
    for _ in range(layer.power_iterations):
        v = u @ matrix.T
        v = v / max(float(np.linalg.norm(v)), 1e-12)
        u = v @ matrix
        u = u / max(float(np.linalg.norm(u)), 1e-12)
    sigma = float((v @ matrix @ u.T).reshape(()))
    size = float(np.sqrt(np.square(matrix).mean()))
    return size / sigma if 0.0 < size < float("inf") and sigma > 0.0 else None
