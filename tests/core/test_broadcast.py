"""Broadcasting of signals."""

from __future__ import annotations

import numpy as np

from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.broadcast import aligned
from autoinit.core.signal.signal import Signal, iid


def test_aligned_adds_and_stretches_axes() -> None:
    x = Signal((1, 4), 0.5, np.array([[1.25, 0.6], [1.25, 0.6]]))
    y = aligned(x, (2, 3, 4))
    assert y.shape == (2, 3, 4)
    np.testing.assert_array_equal(y.K, np.broadcast_to([1.25, 0.6], (2, 2, 2)))
    assert y.correlation(0) == y.correlation(1) == 1.0


def test_aligned_is_remembered_and_keeps_functions() -> None:
    x = iid((4,))
    relu = Signal.function(x, apply("relu", X))
    y = aligned(relu, (3, 4))
    assert aligned(relu, (3, 4)) is y
    assert y.expr is relu.expr and y.source is aligned(x, (3, 4))
    assert aligned(x, (4,)) is x


def test_aligned_keeps_profiles_of_axes_that_stay() -> None:
    p = np.array([0.5, 1.5])
    x = Signal((1, 2), 0.0, iid((1, 2)).K, profiles=(None, p))
    np.testing.assert_array_equal(aligned(x, (3, 5, 2)).profiles[2], p)  # type: ignore[arg-type]
