"""One training of one activation function, and when it counts as failed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from ...core.lazy import lazy
from ...errors import OptionError

INITIALIZATIONS = ("default", "autoinit", "autoinit++")
NAMES = {"default": "default", "autoinit": "AutoInit", "autoinit++": "AutoInit++"}
STATUSES = ("done", "time", "memory", "crashed", "error")
CAUSES = {
    "diverged": "loss or signals not finite",
    "time": "time limit",
    "memory": "memory limit",
    "crashed": "process died",
    "error": "exception",
    "chance": "trained to the end, no better than chance",
}
LEVEL = 1e-3
"""Of so many functions that only guess, one is taken for better than chance."""


@dataclass(frozen=True)
class Trial:
    """One function trained with one initialization.

    key: names the function (and the seed): the same in the trials of one function with several initializations.
    accuracy: on the validation images, 0 to 1; None when nothing was trained.
    """

    function_formula: str
    key: str
    initialization: str
    accuracy: float | None
    status: str = "done"
    diverged: bool = False
    seconds: float = 0.0
    message: str = ""

    def __post_init__(self) -> None:
        where = f"trial of {self.function_formula}"
        if self.initialization not in INITIALIZATIONS:
            raise OptionError("unknown initialization", where=where, received=repr(self.initialization),
                              fix=f"one of {', '.join(INITIALIZATIONS)}")  # fmt: skip
        if self.status not in STATUSES:
            raise OptionError("unknown status", where=where, received=repr(self.status),
                              fix=f"one of {', '.join(STATUSES)}")  # fmt: skip
        if self.accuracy is not None and isfinite(self.accuracy) and not 0 <= self.accuracy <= 1:
            raise OptionError("an accuracy lies between 0 and 1", where=where, received=repr(self.accuracy),
                              fix="divide percentages by 100")  # fmt: skip

    @property
    def trained(self) -> bool:
        """The training came to its end and the accuracy is a number."""
        return self.status == "done" and not self.diverged and self.accuracy is not None and isfinite(self.accuracy)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Chance:
    """What guessing among `classes` equally frequent classes reaches on `validation_size` images."""

    classes: int
    validation_size: int

    def __post_init__(self) -> None:
        for name, least in (("classes", 2), ("validation_size", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise OptionError(f"'{name}' takes an integer of at least {least}", where="compare",
                                  received=repr(value), fix="classes=10, validation_size=5000")  # fmt: skip

    @property
    def accuracy(self) -> float:
        return round(1 / self.classes, 6)

    @lazy
    def threshold(self) -> float:
        """The smallest accuracy k/N with P(K ≥ k) < 10⁻³ for K ~ Binomial(N, 1/classes); above 1 if there is none."""
        from scipy.stats import binom

        # isf gives the smallest k with P(K > k) ≤ LEVEL.
        return (float(binom.isf(LEVEL, self.validation_size, 1 / self.classes)) + 1) / self.validation_size

    def cause(self, trial: Trial) -> str | None:
        """Why the trial failed (a key of CAUSES); None when it did better than chance."""
        if trial.status != "done":
            return trial.status
        if not trial.trained:
            return "diverged"
        return "chance" if self.measured(trial) < round(self.threshold, 6) else None

    def measured(self, trial: Trial) -> float:
        """The accuracy as it was measured; a training that did not come to its end counts as chance.

        Six decimals: an accuracy that was computed in single precision ties with the same one in double precision.
        """
        return round(trial.accuracy if trial.trained and trial.accuracy is not None else self.accuracy, 6)

    def counted(self, trial: Trial) -> float:
        """The accuracy that enters the statistics: every failure counts as chance.

        Without this, functions that only guess would be ranked by the luck of their guesses.
        """
        return self.accuracy if self.cause(trial) else self.measured(trial)


def by_initialization(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    """The trials of each initialization, in the order of INITIALIZATIONS; those without any are left out."""
    grouped: dict[str, list[Trial]] = {name: [] for name in INITIALIZATIONS}
    seen: set[tuple[str, str]] = set()
    for trial in trials:
        if (trial.key, trial.initialization) in seen:
            raise OptionError(f"two trials of one function with initialization '{trial.initialization}'",
                              where="compare", received=f"{trial.key}: {trial.function_formula}",
                              fix="give one trial per function and initialization")  # fmt: skip
        seen.add((trial.key, trial.initialization))
        grouped[trial.initialization].append(trial)
    return {name: group for name, group in grouped.items() if group}


def last_words(message: str) -> str:
    """What a traceback ends with: its last line that is not indented."""
    lines = [line for line in message.splitlines() if line.strip() and not line[0].isspace()]
    return lines[-1] if lines else ""
