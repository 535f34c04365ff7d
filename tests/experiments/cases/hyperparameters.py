"""All-CNN-C: (accuracy of the default, of AutoInit) at each setting; AutoInit by the paper's formulas like AutoInit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.experiments.cases.made_up import Case, made_up

Pair = Callable[[Mapping[str, Any]], tuple[float | None, float | None]]


def given(pair: Pair, preset: str = "paper") -> Callable[[], dict[str, Any]]:
    return lambda: made_up(
        "hyperparameters", lambda payload: pair(payload["at"])[payload["at"]["scheme"] != "default"], preset
    )


def by_rate(default: Mapping[float, float], ours: Mapping[float, float]) -> Callable[[], dict[str, Any]]:
    return given(lambda at: (default[at["multiplier"]], ours[at["multiplier"]]))


def rates(*accuracies: float) -> dict[float, float]:
    return dict(zip((0.1, 0.3, 1.0, 3.0, 10.0), accuracies, strict=True))


AHEAD = given(lambda at: (0.6, 0.7))
BEHIND = given(lambda at: (0.7, 0.6))
CHANCE = given(lambda at: (0.1, 0.1))
EQUAL = given(lambda at: (0.6, 0.6))
GUESSING = given(lambda at: (0.1, 0.11))
TANH = given(lambda at: (0.6, 0.5 if at["activation"] == "tanh" else 0.7))
LITTLE = given(lambda at: (0.6, 0.595))

ACTIVATION, DROPOUT, DECAY = "comparable or better with every activation", "all dropout rates", "weight decay settings"
RATE, EVERY, PAPERS = "less sensitive", "AutoInit improved", "paper's own formulas"
CASES = [
    Case(ACTIVATION, "yes", AHEAD),
    Case(ACTIVATION, "yes", LITTLE),
    Case(ACTIVATION, "partly", TANH),
    Case(ACTIVATION, "no", BEHIND),
    Case(ACTIVATION, "no", CHANCE),
    *(Case(claim, "yes", AHEAD) for claim in (DROPOUT, DECAY, EVERY, PAPERS)),
    *(Case(claim, "no", case) for claim in (DROPOUT, DECAY, EVERY, PAPERS)
      for case in (BEHIND, CHANCE, EQUAL, GUESSING, LITTLE)),
    Case(DROPOUT, "partly", given(lambda at: (0.6, 0.5 if at["dropout"] == 0.7 else 0.7))),
    Case(DECAY, "partly", given(lambda at: (0.6, 0.6 if at["weight_decay"] == 0.0 else 0.7))),
    Case(EVERY, "partly", TANH),
    Case(PAPERS, "partly", TANH),
    Case(RATE, "yes", by_rate(rates(0.3, 0.5, 0.7, 0.5, 0.3), rates(0.6, 0.65, 0.7, 0.65, 0.6))),
    # A rate that kills everything does not count against the one with the higher best.
    Case(RATE, "yes", by_rate(rates(0.3, 0.5, 0.7, 0.5, 0.1), rates(0.7, 0.75, 0.8, 0.75, 0.1))),
    # Less is lost because there is less to lose.
    Case(RATE, "partly", by_rate(rates(0.3, 0.5, 0.7, 0.5, 0.3), rates(0.3, 0.3, 0.3, 0.3, 0.3))),
    Case(RATE, "partly", by_rate(rates(0.1, 0.1, 0.1, 0.1, 0.1), rates(0.3, 0.3, 0.3, 0.3, 0.3))),
    Case(RATE, "no", by_rate(rates(0.6, 0.65, 0.7, 0.65, 0.6), rates(0.3, 0.5, 0.7, 0.5, 0.3))),
    Case(RATE, "no", by_rate(rates(0.3, 0.5, 0.7, 0.5, 0.3), rates(0.1, 0.1, 0.1, 0.1, 0.1))),
    Case(RATE, "no", CHANCE),
]  # fmt: skip
