"""From jobs to a journal, and from a journal to results.json, results.md and figures."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text
from autoinit.errors import OptionError
from autoinit.labs.evolution import Journal, run

from .catalogue import experiment, preset_of
from .trials import Trial

RESULTS = Path(__file__).parent / "results"
JOURNAL = "journal.jsonl"
MAIN = "cpu"
"""The preset whose results lie in the experiment's folder itself; others have a folder of their own below."""


def folder_of(name: str, preset: str, results: Path = RESULTS) -> Path:
    return results / name if preset == MAIN else results / name / preset


def perform(
    name: str,
    preset: str,
    results: Path = RESULTS,
    *,
    engine: str = "processes",
    workers: int = 2,
    threads: int | None = 1,
    retry: Iterable[str] = (),
    progress: bool = True,
) -> Path:
    """Carry out what the journal does not have yet, then write the results; returns their folder."""
    chosen, folder = preset_of(name, preset), folder_of(name, preset, results)
    run(
        experiment(name).jobs(chosen), experiment(name).WORK, folder / JOURNAL, engine=engine, workers=workers,
        threads=threads, retry=retry, progress=progress, title=f"{name} {preset}",
        config={"experiment": name, "preset": preset},
    )  # fmt: skip
    write(name, preset, results)
    return folder


def read(name: str, preset: str, results: Path = RESULTS) -> list[Trial]:
    """The trials of the preset's jobs that have ended, in the order of the jobs. A run may be going on."""
    journal = folder_of(name, preset, results) / JOURNAL
    if not journal.is_file():
        raise OptionError("there is no journal of this experiment", where=f"experiment '{name}'",
                          received=str(journal), fix=f"python -m experiments run {name} --preset {preset}"
                          )  # fmt: skip
    records = Journal.read(journal).records
    found = [records[job.key] for job in experiment(name).jobs(preset_of(name, preset)) if job.key in records]
    return [Trial(r.payload.get("at", {}), r.outcome.status, r.outcome.value or {}) for r in found]


def write(name: str, preset: str, results: Path = RESULTS) -> dict[str, Any]:
    """Write results.json, results.md and the figures of what has ended; returns the summary."""
    one, folder, trials = experiment(name), folder_of(name, preset, results), read(name, preset, results)
    summary = summarized(name, preset, trials)
    drawn = one.figures(trials, preset_of(name, preset), folder)
    replace_text(folder / "results.json", as_json(summary))
    replace_text(folder / "results.md", _page(one.TITLE, summary, one.tables(summary), drawn))
    return summary


def summarized(name: str, preset: str, trials: Sequence[Trial]) -> dict[str, Any]:
    """How many of the jobs ended and failed, and the experiment's own summary."""
    one, chosen = experiment(name), preset_of(name, preset)
    head = {
        "experiment": name,
        "preset": preset,
        "jobs": len(one.jobs(chosen)),
        "ended": len(trials),
        "failed": sum(trial.failed for trial in trials),
    }
    return {**head, **one.summary(trials, chosen)}


def as_json(summary: Mapping[str, Any]) -> str:
    return json.dumps(_plain(dict(summary)), indent=1, allow_nan=False) + "\n"


def progress_of(summary: Mapping[str, Any]) -> str:
    """How many jobs have ended, and how many of them without a result."""
    told = f"{summary['ended']} of {summary['jobs']} jobs have ended"
    if not summary["failed"]:
        return f"{told}."
    return f"{told}, {summary['failed']} of them failed and are left out (`run --retry` tries them again)."


def saved(name: str, results: Path = RESULTS) -> dict[str, Any] | None:
    """The summary of the largest preset that was run; None if none was."""
    for preset in ("paper", MAIN):
        path = folder_of(name, preset, results) / "results.json"
        if path.is_file():
            return dict(json.loads(path.read_text(encoding="utf-8")))
    return None


def _page(title: str, summary: dict[str, Any], tables: str, drawn: list[str]) -> str:
    command = f"python -m experiments run {summary['experiment']} --preset {summary['preset']}"
    pictures = "".join(f"\n![{name.removesuffix('.png').replace('_', ' ')}]({name})\n" for name in drawn)
    return f"# {title}\n\n`{command}`\n\n{progress_of(summary)}\n\n{tables}{pictures}"


def _plain(value: Any) -> Any:
    """JSON has no words for what is not finite: None."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
