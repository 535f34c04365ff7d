"""Samples of a layer's output: they have as many directions as the layer has inputs."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Signal, iid

ROWS, WIDTH, INPUTS, DRAWS = 12, 64, 16, 400


@pytest.mark.parametrize("axis", [1, 2])
def test_directions_of_a_layers_output(axis: int) -> None:
    """y = x W of 16 inputs: the mean of tr (y y^T)^2 is that of real products, to five standard errors.

    White noise of 64 features has fewer alike rows, and a mean below 0.8 times that.
    """
    rng, shape = np.random.default_rng(0), (1, ROWS, WIDTH) if axis == 2 else (1, WIDTH, ROWS)
    y = Signal(shape, 0.0, iid(shape).K, deficiency=1.0 / INPUTS)

    def real() -> np.ndarray:
        return rng.standard_normal((ROWS, INPUTS)) @ rng.standard_normal((INPUTS, WIDTH)) / INPUTS**0.5

    def power(a: np.ndarray) -> float:
        return float(np.square(a @ a.T).sum())

    def drawn(features: int | None) -> np.ndarray:
        a = sample(y, rng, features=features)[0]
        return a if axis == 2 else a.T

    found, true = ([power(f()) for _ in range(DRAWS)] for f in (lambda: drawn(axis), real))
    error = float(np.sqrt((np.var(found) + np.var(true)) / DRAWS))
    assert abs(float(np.mean(found) - np.mean(true))) < 5 * error < 0.2 * float(np.mean(true))
    assert np.mean([power(drawn(None)) for _ in range(DRAWS)]) < 0.8 * float(np.mean(true))
