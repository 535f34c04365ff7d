"""What finished trainings say together: medians, ranges, who learned anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median
from typing import Any

DEVIATIONS = 4.0
"""A share of right answers this many standard deviations above chance is no accident."""


@dataclass(frozen=True)
class Trial:
    """One job of an experiment: its place in the grid, how it ended, and what it returned if it did."""

    at: Mapping[str, Any]
    status: str
    value: Mapping[str, Any]

    @property
    def diverged(self) -> bool:
        """No accuracy: the loss was not finite, or the job did not end as it should."""
        return self.status != "done" or bool(self.value.get("diverged", False))

    @property
    def accuracy(self) -> float:
        """Of the test images; what guessing gives if training diverged."""
        return 1 / self.value.get("classes", 10) if self.diverged else float(self.value["accuracy"])

    @property
    def learned(self) -> bool:
        """Significantly better than chance: accuracy > p + 4 √(p(1 − p)/n) with p = 1/classes and n test images."""
        return not self.diverged and self.accuracy > better_than_chance(self.value["classes"], self.value["tested"])


def better_than_chance(classes: int, tested: int) -> float:
    chance = 1 / classes
    return chance + DEVIATIONS * sqrt(chance * (1 - chance) / tested)


def where(trials: Iterable[Trial], **at: Any) -> list[Trial]:
    """The trials at these places of the grid."""
    return [trial for trial in trials if all(trial.at.get(name) == value for name, value in at.items())]


def spread(trials: Sequence[Trial]) -> dict[str, Any] | None:
    """Median, mean and range of accuracies, how many diverged or did not learn; None without trials."""
    if not trials:
        return None
    accuracies = [trial.accuracy for trial in trials]
    return {
        "runs": len(trials),
        "diverged": sum(trial.diverged for trial in trials),
        "learned": sum(trial.learned for trial in trials),
        "median": median(accuracies),
        "mean": fmean(accuracies),
        "low": min(accuracies),
        "high": max(accuracies),
    }


def median_of(trials: Iterable[Trial], name: str) -> float | None:
    """The median of one of the values that jobs return."""
    found = [float(trial.value[name]) for trial in trials if name in trial.value]
    return median(found) if found else None
