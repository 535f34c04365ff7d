"""Who is best, and how many learning rates work for whom: decided by numbers alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Any

from ..trials import Trial, where
from .networks import Network
from .presets import Preset

ERRORS = 2.0
"""A difference of more than so many standard errors is one."""
WORKS = 0.8
"""Training works at a rate if it comes so far from guessing to the best loss of all initializations."""


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """For each network and initialization the losses at all rates, the chosen rate, the place and the range."""
    networks = {n.name: _network(where(trials, network=n.name), n, preset) for n in preset.networks}
    return {"seeds": list(preset.seeds), "schemes": list(preset.schemes), "networks": networks}


def _network(trials: Sequence[Trial], network: Network, preset: Preset) -> dict[str, Any]:
    rows = {}
    for scheme in preset.schemes:
        found = [point(where(trials, scheme=scheme, rate=rate), rate) for rate in network.rates]
        rows[scheme] = {"points": [one for one in found if one]}
    complete = all(_complete(row["points"], network, len(preset.seeds)) for row in rows.values())
    guess = next((float(t.value["guess"]) for t in trials if not t.failed), None)
    return {"rates": list(network.rates), "guess": guess, "complete": complete, **_judged(rows, guess)}


def _complete(points: Sequence[Mapping[str, Any]], network: Network, seeds: int) -> bool:
    """Every rate has a result, and no job is still to come."""
    return len(points) == len(network.rates) and all(one["runs"] + one["failed"] == seeds for one in points)


def point(trials: Sequence[Trial], rate: float) -> dict[str, Any] | None:
    """Losses at one rate: means over the seeds, the standard error of the test loss; None without a result.

    A training that diverged has the loss of guessing, and so has one that ended above it: who does worse can guess.
    """
    ended = [trial for trial in trials if not trial.failed]
    if not ended:
        return None
    tested = [_loss(trial, "test_loss") for trial in ended]
    return {
        "rate": rate,
        "runs": len(ended),
        "failed": len(trials) - len(ended),
        "diverged": sum(trial.diverged for trial in ended),
        "validation": fmean(_loss(trial, "validation_loss") for trial in ended),
        "test": fmean(tested),
        "error": stdev(tested) / sqrt(len(tested)) if len(tested) > 1 else 0.0,
        "tests": tested,
    }


def _loss(trial: Trial, name: str) -> float:
    guess = float(trial.value["guess"])
    return guess if trial.diverged else min(float(trial.value[name]), guess)


def _judged(rows: Mapping[str, Any], guess: float | None) -> dict[str, Any]:
    """`best`: the lowest mean test loss at any rate; `works`: what a rate must reach to count."""
    reached = [one["test"] for row in rows.values() for one in row["points"]]
    if guess is None or not reached:
        return {"best": None, "works": None, "rows": {s: {**r, "chosen": None} for s, r in rows.items()}}
    works = guess - WORKS * (guess - min(reached))
    chosen = {s: min(r["points"], key=lambda p: p["validation"], default=None) for s, r in rows.items()}
    others = [one for one in chosen.values() if one]
    judged = {
        scheme: {
            **row,
            "chosen": chosen[scheme],
            "best": chosen[scheme] is not None and not any(ahead(other, chosen[scheme]) for other in others),
            "range": sum(one["test"] <= works for one in row["points"]) if min(reached) < guess else 0,
        }
        for scheme, row in rows.items()
    }
    return {"best": min(reached), "works": works, "rows": judged}


def ahead(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether its mean test loss is lower by more than two standard errors of the difference."""
    return bool(other["test"] - one["test"] > ERRORS * sqrt(one["error"] ** 2 + other["error"] ** 2))
