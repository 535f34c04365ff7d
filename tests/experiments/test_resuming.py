"""Runs that are interrupted, and what is told to people who mistype."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import experiments.training_job
from autoinit.errors import OptionError
from autoinit.labs.evolution import JournalError
from experiments import results
from experiments.catalogue import experiment, preset_of
from experiments.command import app
from experiments.place import Place

VALUE = {"accuracy": 0.5, "top5": 0.9, "diverged": False, "classes": 10, "tested": 1000, "initialization_seconds": 0.1}

PLACE = ("AUTOINIT_DEVICE", "AUTOINIT_CHECKPOINTS", "AUTOINIT_LOADERS", "AUTOINIT_RUNS")


class Interrupted:
    """Does the work of a job without training; is interrupted after so many jobs (-1: never)."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.seen: list[str] = []

    def __call__(self, payload: dict[str, Any]) -> dict[str, Any]:
        if len(self.seen) == self.after:
            raise KeyboardInterrupt
        self.seen.append(json.dumps(payload["at"], sort_keys=True))
        return VALUE


def test_an_interrupted_run_goes_on_and_repeats_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = Interrupted(after=4)
    monkeypatch.setattr(experiments.training_job, "evaluate", work)
    with pytest.raises(KeyboardInterrupt):
        results.perform("schedules", "smoke", tmp_path, engine="serial", progress=False)
    partly = results.write("schedules", "smoke", tmp_path)
    assert (partly["ended"], partly["jobs"]) == (4, 8)
    work.after = -1
    results.perform("schedules", "smoke", tmp_path, engine="serial", progress=False)
    assert len(work.seen) == len(set(work.seen)) == 8
    assert results.write("schedules", "smoke", tmp_path)["ended"] == 8


def test_a_journal_of_another_preset_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments.training_job, "evaluate", Interrupted(after=-1))
    folder = results.perform("imagenet", "smoke", tmp_path, engine="serial", progress=False)
    (tmp_path / "imagenet" / "paper").mkdir()
    (folder / "journal.jsonl").rename(tmp_path / "imagenet" / "paper" / "journal.jsonl")
    with pytest.raises(JournalError, match="preset: 'smoke' in the journal, 'paper' now"):
        results.perform("imagenet", "paper", tmp_path, engine="serial", progress=False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "learning_rate"], "did you mean 'learning_rates'"),
        (["run", "signals", "--preset", "huge"], "one of paper, cpu, smoke"),
        (["run", "imagenet"], "one of paper, smoke"),
        (["report", "schedules"], "python -m experiments run schedules --preset cpu"),
    ],
)
def test_errors_say_what_to_do(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PLACE:
        monkeypatch.setenv(name, "")
    told = CliRunner().invoke(app, [*arguments, "--results", str(tmp_path)])
    assert told.exit_code == 2 and words in told.output
    assert not list(tmp_path.rglob("*")), "nothing is begun"


def test_unknown_names_are_option_errors() -> None:
    with pytest.raises(OptionError, match="unknown experiment"):
        experiment("nothing")
    with pytest.raises(OptionError, match="unknown preset of 'signals'"):
        preset_of("signals", "nothing")


def test_list_names_every_experiment() -> None:
    told = CliRunner().invoke(app, ["list"])
    assert told.exit_code == 0 and "data_dependent" in told.output and "cpu 240" in told.output


def test_the_place_goes_through_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTOINIT_DATA", *PLACE):
        monkeypatch.setenv(name, "")
    assert Place.from_environment() == Place()
    place = Place(tmp_path, "cuda", tmp_path / "kept", 3, tmp_path / "runs")
    place.into_environment()
    assert Place.from_environment() == place
    assert place.checkpoint({"a": 1}) == place.checkpoint({"a": 1}) != place.checkpoint({"a": 2})
    assert Place().checkpoint({"a": 1}) is None


@pytest.mark.slow
def test_the_command_runs_in_worker_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PLACE:
        monkeypatch.setenv(name, "")
    arguments = ["run", "schedules", "--preset", "smoke", "--workers", "1", "--results", str(tmp_path)]
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 0 and "8 of 8 jobs have ended." in told.output
    assert (tmp_path / "schedules" / "smoke" / "schedules.png").stat().st_size > 10_000
