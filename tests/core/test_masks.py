"""Which entries of an additive mask are dead."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.signal.masks import dead_entries


@pytest.mark.parametrize(
    ("values", "dead"),
    [
        ([0.0, -np.inf, 0.0], [False, True, False]),
        ([0.0, -1e9, 0.3], [False, True, False]),
        ([0.0, -100.0, 0.0], [False, True, False]),  # shifted windows are masked with -100
        ([0.0, -100.0, 0.5], [False, False, False]),  # a bias that happens to be very negative is a bias
        ([-120.0, -110.0, -100.0], [False, False, False]),
        ([0.0, -5.0, 0.0], [False, False, False]),
    ],
)
def test_dead_entries(values: list[float], dead: list[bool]) -> None:
    assert dead_entries(np.array(values)).tolist() == dead


def test_an_empty_array_has_none() -> None:
    assert dead_entries(np.zeros((0, 3))).shape == (0, 3)
