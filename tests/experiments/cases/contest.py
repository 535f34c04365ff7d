"""The contest: test losses by network, initialization and learning rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from experiments import contest
from experiments.contest.schemes import OURS
from experiments.trials import Trial
from tests.experiments.cases.made_up import Case, payloads

GUESS = 2.0
Losses = Callable[[Mapping[str, Any]], Any]
"""From a job's place in the grid to a test loss, (validation loss, test loss), None (diverged) or a status."""
NETWORKS = [network.name for network in contest.PRESETS["cpu"].networks]
RATES = {network.name: network.rates for network in contest.PRESETS["cpu"].networks}


def trial(at: Mapping[str, Any], reached: Any) -> Trial:
    if isinstance(reached, str):
        return Trial(at, reached, {})
    validation, test = reached if isinstance(reached, tuple) else (reached, reached)
    losses = {"validation_loss": validation, "test_loss": test}
    return Trial(at, "done", {**losses, "diverged": reached is None, "guess": GUESS})


def summary(reached: Losses) -> dict[str, Any]:
    preset = contest.PRESETS["cpu"]
    trials = [trial(payload["at"], reached(payload["at"])) for payload in payloads("contest", "cpu")]
    return contest.summary(trials, preset)


def given(better: int, wider: int, margin: float = 0.1) -> Callable[[], dict[str, Any]]:
    """All losses are 0.5 ± 0.01 at the middle rate, ours lower by the margin on so many networks and higher on others.

    Beside it only ours works, on so many networks; on the others, everything but ours.
    """

    def reached(at: Mapping[str, Any]) -> float:
        place, ours = NETWORKS.index(at["network"]), at["scheme"] == OURS
        if at["rate"] != RATES[at["network"]][2]:
            return 0.7 if ours == (place < wider) else 1.9
        return 0.5 + 0.01 * (at["seed"] - 11) - ours * (margin if place < better else -margin)

    return lambda: summary(reached)


BEST, WIDEST = "is the best of", "as many learning rates"
ALL = len(NETWORKS)
CASES = [
    Case(BEST, "yes", given(ALL, ALL)),
    Case(BEST, "yes", given(ALL - 1, 0)),
    Case(BEST, "yes", given(0, 0, margin=0.01)),
    Case(BEST, "partly", given(ALL - 2, ALL)),
    Case(BEST, "no", given(ALL // 2 - 1, ALL)),
    Case(BEST, "no", lambda: summary(lambda at: None if at["scheme"] == OURS else 0.5)),
    Case(WIDEST, "yes", given(ALL, ALL)),
    Case(WIDEST, "yes", given(0, ALL - ALL // 4)),
    Case(WIDEST, "yes", lambda: summary(lambda at: 0.5)),
    Case(WIDEST, "partly", given(ALL, ALL - ALL // 4 - 1)),
    Case(WIDEST, "no", given(ALL, 0)),
    Case(WIDEST, "no", lambda: summary(lambda at: None)),
]
