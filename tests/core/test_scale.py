"""Root finding on the second moment of a contraction."""

from __future__ import annotations

from math import atanh, exp, tanh

import pytest

from autoinit.core.solve.scale import find_scale


@pytest.mark.parametrize("degree", [0.5, 1.0, 2.0, 4.0])
def test_power_laws_are_exact_in_few_evaluations(degree: float) -> None:
    asked: list[float] = []

    def second(t: float) -> float:
        asked.append(t)
        return 3.0 * t ** (2 * degree)

    found = find_scale(second, 0.1, 1.0)
    assert found.kind == "solved" and found.scale == pytest.approx(3.0 ** (-0.5 / degree), rel=1e-8)
    assert len(asked) <= 6


@pytest.mark.parametrize(
    ("second", "scale"),
    [
        (lambda t: 64 * tanh(t) ** 2, atanh(1 / 8)),
        (lambda t: 0.3 + 10 * t * t, (0.7 / 10) ** 0.5),
        (lambda t: 10 * t * t + 1000 * t**4, ((100 + 4 * 1000) ** 0.5 - 10) ** 0.5 / 2000**0.5),
        (lambda t: 1e-12 * t * t, 1e6),
        (lambda t: 0.0 if t < 0.4 else t * t, 1.0),
        (lambda t: t * t if t < 50 else float("inf"), 1.0),
    ],
    ids=["saturating", "offset", "two powers", "far", "dead at small scales", "overflow"],
)
def test_what_is_no_power_law(second, scale: float) -> None:
    found = find_scale(second, 0.125, 1.0)
    assert found.kind == "solved" and found.scale == pytest.approx(scale, rel=1e-5)


def test_zero() -> None:
    assert find_scale(lambda t: 0.0, 0.2, 1.0).kind == "zero"
    assert find_scale(lambda t: float("nan"), 0.2, 1.0).kind == "zero"


def test_no_effect() -> None:
    found = find_scale(lambda t: 7.0, 0.2, 1.0)
    assert (found.kind, found.scale) == ("flat", 0.2) and found.low == pytest.approx(7.0)


def test_an_epsilon_is_no_effect_for_what_is_normalised() -> None:
    """y = w / sqrt(w^2 + eps): at the start eps takes 9 % off."""
    assert find_scale(lambda t: 5 * t * t / (t * t + 1e-3), 0.1, 1.0, normalised=True).kind == "flat"
    assert find_scale(lambda t: 5 * t * t / (t * t + 1e-3), 0.1, 1.0).kind == "solved"


@pytest.mark.parametrize(
    ("second", "low", "high"),
    [
        (lambda t: 0.5 * tanh(t) ** 2, 0.0, 0.5),
        (lambda t: 2.0 + t * t, 2.0, 1e30),
        (lambda t: 1 - exp(-t) * 0.9, 0.1, 1.0),  # reaches 1 at infinity only
    ],
    ids=["bounded", "from above", "in the limit"],
)
def test_out_of_reach(second, low: float, high: float) -> None:
    found = find_scale(second, 0.125, 1.0)
    assert (found.kind, found.scale) == ("unreachable", 0.125)
    assert low - 1e-9 <= found.low <= found.high <= high
