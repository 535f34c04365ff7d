"""Evolution of activation functions: ageing evolution whose mutations are those of the search space."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import OptionError
from ..evolution import History, Job, Limits, Outcome, evolve
from .function import Function
from .presets import Preset
from .sampling import WORK, job
from .trials import INITIALIZATIONS


def evolve_functions(
    preset: Preset, journal: Path, *, initialization: str = "autoinit++", evaluations: int = 200, population: int = 32,
    tournament: int = 8, engine: str = "processes", workers: int = 2, progress: bool = True,
) -> History:  # fmt: skip
    """Search for the function with the best validation accuracy; goes on where `journal` ends."""
    if initialization not in INITIALIZATIONS:
        raise OptionError(f"unknown initialization '{initialization}'", where="initialization",
                          received=repr(initialization), fix=f"one of {', '.join(INITIALIZATIONS)}")  # fmt: skip

    def create(rng: np.random.Generator) -> dict[str, Any]:
        return Function.random(rng, mutations=preset.mutations, parameters=preset.parameters).to_dict()

    def mutate(genome: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return Function.from_dict(genome).mutate(rng).to_dict()

    def to_job(genome: Mapping[str, Any]) -> Job:
        return job(Function.from_dict(genome), initialization, preset, preset.seed)

    return evolve(
        create, mutate, to_job, fitness, WORK, journal, population=population, tournament=tournament,
        evaluations=evaluations, seed=preset.seed, engine=engine, workers=workers, limits=limits(preset),
        progress=progress, title="evolution",
    )  # fmt: skip


def fitness(outcome: Outcome) -> float:
    """The validation accuracy; nothing for a training that did not come to its end."""
    accuracy = outcome.value["accuracy"] if outcome.status == "done" and outcome.value is not None else None
    return float(accuracy) if accuracy is not None and isfinite(accuracy) else 0.0


def limits(preset: Preset) -> Limits:
    """The limits of one evaluation."""
    return Limits(seconds=preset.seconds, bytes=None if preset.megabytes is None else preset.megabytes * 10**6)
