"""Hyperparameters stay in their ranges, move the way the documentation says, and are compared on their own scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.labs.codeepneat import Choice, Real, SpaceError, Whole
from autoinit.labs.codeepneat.ranges import Range, range_from_dict, range_to_dict

RANGES = [Real(0.0, 0.7), Real(1e-9, 1e-3, log=True), Whole(16, 96), Choice("relu", "elu", "selu"), Choice(1, 3)]


@pytest.mark.parametrize("one", RANGES, ids=str)
@settings(deadline=None)
@given(seed=st.integers(0, 2**32))
def test_values_stay_inside(one: Range, seed: int) -> None:
    rng = np.random.default_rng(seed)
    value: Any = one.draw(rng)
    for _ in range(20):
        assert one.contains(value)
        new = one.changed(value, rng)
        assert 0 <= one.difference(value, new) <= 1
        assert isinstance(one, Real) or new != value, "whole numbers and choices always change"
        value = new


def test_the_log_scale_is_one() -> None:
    rate = Real(1e-4, 1e-2, log=True)
    rng = np.random.default_rng(0)
    drawn = np.array([rate.draw(rng) for _ in range(4000)])
    assert abs(np.mean(drawn < 1e-3) - 0.5) < 0.03
    assert rate.difference(1e-4, 1e-3) == pytest.approx(0.5) and rate.difference(1e-4, 1e-2) == pytest.approx(1)
    steps = np.array([np.log10(rate.changed(1e-3, rng) / 1e-3) for _ in range(4000)])
    assert np.std(steps) == pytest.approx(0.4, rel=0.05)  # a fifth of two decades


def test_values_print_as_they_are() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        value = Real(1e-9, 1e-3, log=True).draw(rng)
        assert float(f"{value:.4g}") == value


def test_one_and_true_are_different_choices() -> None:
    flags = Choice(True, 1)
    assert flags.difference(True, 1) == 1.0 and not Choice(1, 3).contains(True) and not Whole(0, 3).contains(True)


@pytest.mark.parametrize("one", RANGES, ids=str)
def test_ranges_as_data(one: Range) -> None:
    assert range_from_dict(range_to_dict(one)) == one


@pytest.mark.parametrize(
    "make",
    [
        lambda: Real(1.0, 1.0), lambda: Real(0.0, 1.0, log=True), lambda: Real(float("nan"), 1.0), lambda: Whole(3, 3),
        lambda: Whole(0.5, 3), lambda: Choice(), lambda: Choice("relu", "relu"),
    ],
)  # fmt: skip
def test_what_is_no_range_is_refused(make: Any) -> None:
    with pytest.raises(SpaceError, match="to fix"):
        make()
