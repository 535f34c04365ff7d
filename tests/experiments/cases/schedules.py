"""ResNet-164: accuracies under schedules with three peak rates below 0.1 and three above."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.experiments.cases.made_up import Case, made_up

BEST = 0.05
"""The peak rate that is best in all these cases."""


def given(
    *, default: tuple[float, float], ours: tuple[float, float], bare: tuple[float | None, float | None]
) -> Callable[[], dict[str, Any]]:
    """With norm (at the best peak, at others) for both initializations; without norm (default, AutoInit)."""

    def reached(payload: Any) -> float | None:
        at, autoinit = payload["at"], payload["at"]["scheme"] == "autoinit"
        if not at["norm"]:
            return bare[autoinit]
        return (ours if autoinit else default)[at["peak"] != BEST]

    return lambda: made_up("schedules", reached)


def without_norm(default: Callable[[float], bool], ours: Callable[[float], bool]) -> Callable[[], dict[str, Any]]:
    """Which peak rates work."""

    def reached(payload: Any) -> float | None:
        at = payload["at"]
        works = (ours if at["scheme"] == "autoinit" else default)(at["peak"])
        return 0.6 if works or at["norm"] else None

    return lambda: made_up("schedules", reached)


PAPER = given(default=(0.7, 0.5), ours=(0.71, 0.65), bare=(None, 0.6))
BEHIND = given(default=(0.7, 0.65), ours=(0.6, 0.3), bare=(0.6, None))
CHANCE = given(default=(0.1, 0.1), ours=(0.1, 0.1), bare=(None, None))
STUCK = given(default=(0.7, 0.5), ours=(0.1, 0.1), bare=(0.6, None))
AHEAD = given(default=(0.5, 0.3), ours=(0.7, 0.65), bare=(0.5, 0.6))

ALIKE, DEGRADES, EVERY, BARE = "comparable with the best", "cost the default more", "every case", "fails with every"
CASES = [
    Case(ALIKE, "yes", PAPER),
    Case(ALIKE, "partly", AHEAD),
    Case(ALIKE, "no", BEHIND),
    Case(ALIKE, "no", CHANCE),
    Case(DEGRADES, "yes", PAPER),
    Case(DEGRADES, "partly", given(default=(0.7, 0.5), ours=(0.4, 0.4), bare=(None, 0.6))),
    Case(DEGRADES, "no", BEHIND),
    Case(DEGRADES, "no", CHANCE),
    Case(DEGRADES, "no", STUCK),
    Case(EVERY, "yes", PAPER),
    # Schedules that let nobody learn are not counted, as long as there are others.
    Case(EVERY, "yes", without_norm(lambda peak: False, lambda peak: peak < 0.5)),
    Case(EVERY, "partly", given(default=(0.7, 0.5), ours=(0.7, 0.5), bare=(0.6, None))),
    Case(EVERY, "no", BEHIND),
    Case(EVERY, "no", CHANCE),
    Case(BARE, "yes", PAPER),
    Case(BARE, "partly", without_norm(lambda peak: peak < 0.005, lambda peak: True)),
    Case(BARE, "partly", without_norm(lambda peak: False, lambda peak: peak < 0.005)),
    Case(BARE, "no", BEHIND),
    Case(BARE, "no", CHANCE),
]
