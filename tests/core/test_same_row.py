"""Two places that one row of weights reads have more in common than their average correlation says."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.gaussian.expression import apply
from autoinit.core.signal.signal import Signal, iid
from autoinit.rules.contract import linear_map

DRAWS = 20000


@pytest.mark.parametrize("inputs, width", [(4, 16), (8, 8), (32, 16)])
def test_squares_at_two_places_of_a_channel(inputs: int, width: int) -> None:
    """y = x A B with fresh A (inputs, width) and B: E[y^2 y'^2] = 1 + 2 E[rho^2], rho of mean zero and
    E[rho^2] = 1/width + 1/inputs (1 + 1/width) by Wick's theorem; K knows the mean of rho only.

    The prediction leaves the product of the two out (2 % here); the sampling error is five standard errors.
    """
    x = iid((2, inputs))
    middle = linear_map(x, iid((width, inputs), 0.0, 1 / inputs), (2, width))
    y = linear_map(middle, iid((8, width), 0.0, 1 / width), (2, 8))
    square = Signal.function(y.source, apply("square", y.expr))
    rng = np.random.default_rng(0)
    a = rng.standard_normal((DRAWS, 2, inputs)) @ rng.standard_normal((DRAWS, inputs, width)) / inputs**0.5
    f = np.square(a @ rng.standard_normal((DRAWS, width, 8)) / width**0.5)
    products = (f[:, 0] * f[:, 1]).mean(axis=1)
    found, error = products.mean(), products.std() / DRAWS**0.5
    assert found == pytest.approx(1 + 2 * (1 / width + (1 + 1 / width) / inputs), abs=5 * error)
    assert float(square.K[1, 0]) == pytest.approx(found, abs=5 * error + 2 / (inputs * width))


def test_standardised_rows_have_one_length() -> None:
    """Rows of fixed length take 2/width off: what is left is the covariance of the features that they read."""
    from autoinit.core.signal.volatility import contracted

    x = iid((2, 16))
    free, fixed = (float(contracted(x, 1, 16, fixed_norm=f)[1, 0]) for f in (False, True))
    assert free - fixed == pytest.approx(2 / 16)


def test_taps_at_different_places_average() -> None:
    """k taps at uncorrelated places leave 1/k of the effect, at identical places all of it."""
    from autoinit.core.signal.volatility import over_taps

    apart = iid((4, 8, 9))
    together = Signal((4, 8, 9), 0.0, np.stack([iid((4, 8)).K] * 2, axis=-1))
    assert over_taps(apart, {2: 3.0}) == pytest.approx(1 / 3)
    assert over_taps(together, {2: 3.0}) == pytest.approx(1.0)
