"""What finished trainings say together: medians, ranges, who learned anything, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median
from typing import Any

DEVIATIONS = 4.0
"""A share of right answers this many standard deviations above chance is no accident of independent guesses."""
ABOVE_CHANCE = 1.3
"""The least multiple of chance that counts as learned, however many test images there are.

Answers of an untrained network are not independent: it gives one class to most images, and where the images of that
class look alike it is right more often than chance: an untrained ResNet had 11.75 % of 2,000 images of CIFAR-10 right.
"""


@dataclass(frozen=True)
class Trial:
    """One job of an experiment: its place in the grid, how it ended, and what it returned if it did."""

    at: Mapping[str, Any]
    status: str
    value: Mapping[str, Any]

    @property
    def failed(self) -> bool:
        """Ended without a result (an exception, a crash, time, memory): this says nothing on the initialization."""
        return self.status != "done"

    @property
    def diverged(self) -> bool:
        """Training came to a loss that is not finite. A job that failed did not diverge."""
        return not self.failed and bool(self.value.get("diverged", False))

    @property
    def accuracy(self) -> float:
        """Of the test images; what guessing gives if training diverged. A job that failed has none."""
        return 1 / self.value["classes"] if self.diverged else float(self.value["accuracy"])

    @property
    def learned(self) -> bool:
        """Came to its end and is significantly better than chance."""
        if self.failed or self.diverged:
            return False
        return self.accuracy > better_than_chance(self.value["classes"], self.value["tested"])


def better_than_chance(classes: int, tested: int) -> float:
    """max(p + 4 √(p(1 − p)/n), 1.3 p), with p = 1/classes and n test images."""
    chance = 1 / classes
    return max(chance + DEVIATIONS * sqrt(chance * (1 - chance) / tested), ABOVE_CHANCE * chance)


def where(trials: Iterable[Trial], **at: Any) -> list[Trial]:
    """The trials at these places of the grid."""
    return [trial for trial in trials if all(trial.at.get(name) == value for name, value in at.items())]


def spread(trials: Sequence[Trial]) -> dict[str, Any] | None:
    """Median, mean and range of accuracies, how many diverged or learned; None without a trial that has a result.

    Jobs that failed are counted, and left out of all else: `runs` are those with a result.
    """
    ended = [trial for trial in trials if not trial.failed]
    if not ended:
        return None
    accuracies = [trial.accuracy for trial in ended]
    return {
        "runs": len(ended),
        "failed": len(trials) - len(ended),
        "diverged": sum(trial.diverged for trial in ended),
        "learned": sum(trial.learned for trial in ended),
        "median": median(accuracies),
        "mean": fmean(accuracies),
        "low": min(accuracies),
        "high": max(accuracies),
    }


def mostly_learned(found: Mapping[str, Any]) -> bool:
    """Of a spread: more than half of its runs."""
    return bool(2 * found["learned"] > found["runs"])


def mostly_diverged(found: Mapping[str, Any]) -> bool:
    return bool(2 * found["diverged"] > found["runs"])


def median_of(trials: Iterable[Trial], name: str) -> float | None:
    """The median of one of the values that jobs return."""
    found = [float(trial.value[name]) for trial in trials if name in trial.value]
    return median(found) if found else None
