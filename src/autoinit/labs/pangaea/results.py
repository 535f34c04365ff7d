"""From the journal of a discovery run to its results: trials, statistics, Markdown and figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from ...core.files import replace_text
from ...errors import OptionError
from ..evolution import Journal, Record
from ..evolution.encoding import same
from . import figures
from .function import Function
from .presets import PRESETS
from .statistics import Comparison, compare
from .tables import markdown
from .trials import Trial, by_initialization, last_words

FUNCTION, BASELINE = "function", "baseline"
"""Kinds of jobs: a function on trial, and ReLU for comparison."""


def read(journal: Path | str, kind: str = FUNCTION) -> list[Trial]:
    """The trials of one kind, in the order in which they finished. A run may be writing to the journal meanwhile."""
    return [_trial(record) for record in _records(journal) if record.payload.get("kind", FUNCTION) == kind]


def baseline_accuracy(journal: Path | str, classes: int = 10) -> float:
    """Median validation accuracy of ReLU with the default initialization over the seeds; a failure counts as chance."""
    found = [trial for trial in read(journal, BASELINE) if trial.initialization == "default"]
    if not found:
        raise OptionError("the journal has no training of ReLU with the default initialization", where=str(journal),
                          fix="give the accuracy to beat: baseline=0.8")  # fmt: skip
    if not any(trial.trained for trial in found):
        raise OptionError("no training of ReLU with the default initialization came to its end", where=str(journal),
                          received=last_words(found[0].message) or found[0].status,
                          fix="mend the setting, or give the accuracy to beat: baseline=0.8")  # fmt: skip
    accuracies = [trial.accuracy if trial.trained else None for trial in found]
    return median(1 / classes if accuracy is None else accuracy for accuracy in accuracies)


def validation_images(journal: Path | str) -> int:
    """How many images the trials of a journal were judged on."""
    sizes = {record.payload.get("setting", {}).get("validation") for record in _records(journal)}
    if len(sizes) != 1 or None in sizes:
        raise OptionError("the journal does not say how many validation images there were, or has several numbers",
                          where=str(journal), received=repr(sorted(map(str, sizes))),
                          fix="give it: validation_size=5000")  # fmt: skip
    return int(sizes.pop())


def preset_of(journal: Path | str) -> str | None:
    """The name of the preset whose setting the journal's trainings have, wherever their data and device were."""
    elsewhere = {"directory": None, "device": "cpu"}
    settings = [{**record.payload.get("setting", {}), **elsewhere} for record in _records(journal)]
    return next(
        (p.name for p in PRESETS.values() if settings and all(same(s, p.setting.to_dict()) for s in settings)), None
    )


def write(
    journal: Path | str,
    folder: Path | str,
    *,
    classes: int = 10,
    validation_size: int | None = None,
    baseline: float | None = None,
    title: str = "Activation functions at random",
    command: str = "",
) -> Comparison:
    """Write results.md, results.json and the figures of a journal into a folder; return the statistics.

    validation_size, baseline: what the journal says if they are left out.
    command: how the run was made, for the page.
    Figures that need more than there is (a second initialization, a function that learned) are left out.
    """
    trials = read(journal)
    size = validation_size if validation_size is not None else validation_images(journal)
    line = baseline if baseline is not None else baseline_accuracy(journal, classes)
    comparison = compare(trials, classes, size, line)
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    drawn = [name for name, draw in _possible(trials, comparison).items() if draw(trials, comparison, target / name)]
    page = markdown(trials, comparison, title, _made_by(command, journal) if command else "")
    pictures = "".join(f"\n![{name.removesuffix('.png').replace('_', ' ')}]({name})\n" for name in drawn)
    replace_text(target / "results.md", page + pictures)
    replace_text(target / "results.json", json.dumps(comparison.to_dict(), indent=1) + "\n")
    return comparison


def _made_by(command: str, journal: Path | str) -> str:
    outcomes = [record.outcome for record in _records(journal)]
    hours = sum(outcome.seconds for outcome in outcomes) / 3600
    return f"`{command}`: {len(outcomes)} trainings, {hours:.1f} hours of one worker in all."


def _possible(trials: list[Trial], comparison: Comparison) -> Mapping[str, Callable[..., Any]]:
    groups = by_initialization(trials)
    shared = {t.key for t in groups.get("default", [])} & {t.key for t in groups.get("autoinit++", [])}
    learned = any(comparison.chance.cause(trial) is None for trial in trials)
    wanted = {
        "accuracies.png": (figures.accuracies, True),
        "error_distributions.png": (figures.error_distributions, bool(comparison.contrasts)),
        "best_functions.png": (figures.best_functions, learned),
        "same_functions.png": (figures.same_functions, bool(shared)),
    }
    return {name: draw for name, (draw, possible) in wanted.items() if possible}


def _records(journal: Path | str) -> list[Record]:
    if not Path(journal).is_file():
        raise OptionError("there is no such journal", where="results", received=str(journal),
                          fix="run the evaluation first, or name its journal")  # fmt: skip
    return list(Journal.read(journal).records.values())


def _trial(record: Record) -> Trial:
    """What was tried stands in the payload, whether or not the training came to its end."""
    outcome, payload = record.outcome, record.payload
    missing = [name for name in ("function", "initialization") if name not in payload]
    if missing:
        raise OptionError(f"a line without {' and '.join(missing)}: not a journal of activation functions",
                          where=record.key, received=repr(sorted(payload)),
                          fix="name the journal of a PANGAEA run")  # fmt: skip
    value, function = outcome.value or {}, Function.from_dict(payload["function"])
    return Trial(
        function.formula,
        f"{function.key}/{payload.get('seed', 0)}",
        payload["initialization"],
        value.get("accuracy"),
        outcome.status,
        bool(value.get("diverged", False)),
        outcome.seconds,
        outcome.message,
    )
