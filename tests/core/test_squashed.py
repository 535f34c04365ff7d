"""Signals between -1 and 1: moments as given, and maxima that stay below one."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Signal
from autoinit.core.signal.squashed import squashed
from autoinit.core.signal.window_maximum import Window, maximum_over
from autoinit.rules.elementwise import moment_together

SHAPE = (50, 40, 8)
K = np.array([[[0.4, 0.0], [0.1, 0.0]], [[0.05, 0.0], [0.02, 0.0]]])


def test_moments_are_those_of_tanh_of_the_source() -> None:
    """Tables of 70 variances and 65 covariances: 1 %."""
    made = squashed(SHAPE, 0.0, K)
    np.testing.assert_allclose(moment_together(Signal.function(made.source, made.expr), made), K, atol=0.004)
    np.testing.assert_array_equal(made.K, K)


def test_maximum_over_samples() -> None:
    """Of 40 states, over 50 x 8 columns and 20 draws; as a Gaussian it would be beyond 1."""
    rng, made = np.random.default_rng(0), squashed(SHAPE, 0.0, K)
    found = [float(sample(made, rng).max(axis=1).mean()) for _ in range(20)]
    slack = 5 * float(np.std(found)) / np.sqrt(20)
    window = [Window.whole(1, 40)]
    assert maximum_over(made, window)[0] == pytest.approx(float(np.mean(found)), abs=slack + 0.005)
    assert maximum_over(Signal(SHAPE, 0.0, K), window)[0] > 1.0


@pytest.mark.parametrize(("mean", "second"), [(0.5, 0.4), (0.0, 1.5), (0.0, 0.0)])
def test_other_signals_stay_plain(mean: float, second: float) -> None:
    made = squashed((3, 4), mean, np.array([[second, 0.0], [0.0, 0.0]]))
    assert made.source is made and made.second == second
