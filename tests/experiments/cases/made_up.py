"""Summaries of experiments that never took place: what would the claims say if jobs had ended like this?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from experiments.catalogue import EXPERIMENTS
from experiments.trials import Trial

Reached = float | str | None
"""An accuracy; None: diverged; a text: the job failed with this status."""


@dataclass(frozen=True)
class Case:
    """`claim`: a part of its text that no other claim of the experiment has; `agrees`: what is to be found."""

    claim: str
    agrees: str
    summary: Callable[[], dict[str, Any]]


def made_up(name: str, reached: Callable[[Mapping[str, Any]], Reached], preset: str = "paper") -> dict[str, Any]:
    """The summary of the preset if its jobs, which `reached` sees by their payloads, ended so."""
    trials = [trial(payload, reached(payload)) for payload in payloads(name, preset)]
    return EXPERIMENTS[name].summary(trials, EXPERIMENTS[name].PRESETS[preset])


@cache
def payloads(name: str, preset: str) -> list[Mapping[str, Any]]:
    """Of all jobs; not to be changed."""
    one = EXPERIMENTS[name]
    return [job.payload for job in one.jobs(one.PRESETS[preset])]


def trial(payload: Mapping[str, Any], reached: Reached) -> Trial:
    if isinstance(reached, str):
        return Trial(payload["at"], reached, {})
    value = {"accuracy": reached, "top5": reached, "diverged": reached is None, "classes": 10, "tested": 10_000}
    seconds = 0.1 if payload["scheme"].startswith("autoinit") else 1.0
    return Trial(payload["at"], "done", {**value, "initialization_seconds": seconds})


def verdict(name: str, claim: str, summary: Mapping[str, Any] | None) -> Any:
    """The finding of the one claim that has this in its text."""
    (found,) = [one for one in EXPERIMENTS[name].CLAIMS if claim in one.text]
    return found.of(summary)
