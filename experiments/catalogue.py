"""The experiments by name. Each is a module of this form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

from autoinit.errors import OptionError
from autoinit.labs.evolution import Job

from . import (
    contest,
    data_dependent,
    hyperparameters,
    imagenet,
    initializations,
    learning_rates,
    overhead,
    schedules,
    search,
    signals,
    transformers,
)
from .claim import Claim
from .trials import Trial


class Experiment(Protocol):
    """`TITLE` says what is asked, `WORK` names the function that carries out a job, `PRESETS` are the sizes."""

    TITLE: str
    WORK: str
    PRESETS: Mapping[str, Any]
    CLAIMS: Sequence[Claim]

    def jobs(self, preset: Any) -> list[Job]:
        """Everything that is to be evaluated."""
        ...

    def summary(self, trials: Sequence[Trial], preset: Any) -> dict[str, Any]:
        """What goes into results.json; some trials may still be missing."""
        ...

    def tables(self, summary: Mapping[str, Any]) -> str:
        """Markdown."""
        ...

    def losses(self, summary: Mapping[str, Any]) -> list[str]:
        """Where another initialization does better than AutoInit, in words."""
        ...

    def figures(self, trials: Sequence[Trial], preset: Any, folder: Path) -> list[str]:
        """Draw into the folder; return the names of the files."""
        ...


EXPERIMENTS: dict[str, Experiment] = {
    "signals": signals,
    "hyperparameters": hyperparameters,
    "learning_rates": learning_rates,
    "schedules": schedules,
    "transformers": transformers,
    "imagenet": imagenet,
    "data_dependent": data_dependent,
    "overhead": overhead,
    "search": search,
    "initializations": initializations,
    "contest": contest,
}  # type: ignore[dict-item]
"""In the order of the paper; the last two are ours."""


def experiment(name: str) -> Experiment:
    return _named(name, EXPERIMENTS, "experiment")


def preset_of(name: str, preset: str) -> Any:
    return _named(preset, experiment(name).PRESETS, f"preset of '{name}'")


def _named(name: str, known: Mapping[str, Any], what: str) -> Any:
    if name not in known:
        near = get_close_matches(name, known, 1)
        fix = f"did you mean '{near[0]}'?" if near else f"one of {', '.join(known)}"
        raise OptionError(f"unknown {what}", where="experiments", received=repr(name), fix=fix)
    return known[name]
