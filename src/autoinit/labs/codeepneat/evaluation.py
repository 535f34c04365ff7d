"""One evaluation, as workers do it: plain data in and out."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from ...core.drawing.words import name_seed
from ..evolution import Job, Outcome
from .finding import loaded
from .network import NetworkGenome
from .presets import Preset

WORK = "autoinit.labs.codeepneat.evaluation:evaluate"
NETWORK, TEST = "network", "test"
DONE, DIVERGED = "done", "diverged"


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Train and judge the network of a payload."""
    task = loaded(payload["task"], Preset.from_dict(payload["preset"]))
    genome = NetworkGenome.from_dict(payload["network"])
    return dict(
        task.train(
            genome, payload["initialization"], seed=payload["seed"], test=payload["test"], device=payload["device"]
        )
    )


def job(
    genome: NetworkGenome, task: str, preset: Preset, initialization: str, *, seed: int, device: str = "cpu",
    after: int | None = None,
) -> Job:  # fmt: skip
    """The evaluation of one network; `after` so many generations: its test, trained again with another seed."""
    kind = NETWORK if after is None else f"{TEST} after {after}"
    name = f"{kind}/{genome.key}"
    payload = {
        "task": task, "preset": preset.of_one_network, "initialization": initialization,
        "network": genome.to_dict(), "seed": name_seed(seed, name, 0), "test": after is not None, "device": device,
    }  # fmt: skip
    return Job(name, payload)


def status_of(outcome: Outcome) -> str:
    """How an evaluation ended: as the outcome says, or "diverged"."""
    value = outcome.value or {}
    if not outcome.done:
        return outcome.status
    fitness = value.get("fitness")
    number = isinstance(fitness, (int, float)) and isfinite(fitness)
    return DIVERGED if value.get("diverged") or not number else DONE


def fitness_of(outcome: Outcome, worst: float) -> float:
    """What the search is told; the worst of the task for whatever did not come to its end."""
    if status_of(outcome) != DONE:
        return worst
    return max(worst, float((outcome.value or {})["fitness"]))
