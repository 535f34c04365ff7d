"""The experiment of architecture search: jobs, resuming, what is told of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import autoinit.labs.codeepneat.evaluation
from autoinit.labs.codeepneat.results import Course
from experiments import search
from experiments.place import Place
from experiments.recipe import TRAINED
from experiments.search_job import evaluate
from tests.experiments.cases.search import FOUR, PAPER, given, lifted

PAYLOAD = dict(search.jobs(search.PRESETS["smoke"])[1].payload)


def test_five_tasks_two_arms_three_seeds_and_a_third_arm_in_two_tasks() -> None:
    for name in ("cpu", "paper"):
        places = [tuple(job.payload["at"].values()) for job in search.jobs(search.PRESETS[name])]
        papers = [place for place in places if place[1] != TRAINED]
        assert len(papers) == 30 and {place[0] for place in papers} == set(search.TASKS)
        assert {place[1] for place in papers} == {"evolved", "autoinit"} and {place[2] for place in places} == {0, 1, 2}
        assert {place[0] for place in places if place[1] == TRAINED} == {"mnist", "adult"} and len(places) == 36
        assert {place[2] for place in places[:12]} == {0}, "one search of each kind comes first"


class Trained:
    """Gives each network a fitness without training; is interrupted after so many."""

    def __init__(self, after: int) -> None:
        self.after, self.seen = after, 0

    def __call__(self, payload: dict[str, Any]) -> dict[str, Any]:
        if self.seen == self.after:
            raise KeyboardInterrupt
        self.seen += 1
        fitness = payload["seed"] % 1000 / 1000
        return {"fitness": fitness, "validation": {"accuracy": fitness}, "test": {"accuracy": 0.5}}


@pytest.mark.filterwarnings("ignore:the engine 'serial'")
def test_a_search_that_was_interrupted_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTOINIT_DEVICE", "AUTOINIT_CHECKPOINTS", "AUTOINIT_LOADERS", "AUTOINIT_RUNS"):
        monkeypatch.setenv(name, "")
    whole = Trained(-1)
    monkeypatch.setattr(autoinit.labs.codeepneat.evaluation, "evaluate", whole)
    undisturbed = evaluate(PAYLOAD)
    Place(runs=tmp_path / "runs").into_environment()
    first, second = Trained(5), Trained(-1)
    monkeypatch.setattr(autoinit.labs.codeepneat.evaluation, "evaluate", first)
    with pytest.raises(KeyboardInterrupt):
        evaluate(PAYLOAD)
    monkeypatch.setattr(autoinit.labs.codeepneat.evaluation, "evaluate", second)
    found = evaluate(PAYLOAD)
    assert first.seen == 5 and second.seen == whole.seen - 5, "nothing is trained twice"
    times = ("seconds", "initialization_share")
    assert {k: v for k, v in found.items() if k not in times} == {
        k: v for k, v in undisturbed.items() if k not in times
    }
    assert Course.read(tmp_path / "runs" / "digits-autoinit-0").to_dict() == found


def test_tables_tell_every_measure() -> None:
    told = search.tables(PAPER())
    assert "| adult | best | 80.10 (80.00 to 80.20) | 85.10 (85.00 to 85.20) | +5.00 | 1.00 |" in told
    assert "| adult | drop | 2.50 (2.50 to 2.50) | 0.00 (0.00 to 0.00) | -2.50 | 1.00 |" in told
    assert "higher best fitness in 12 pairs of searches, the lower in 0 (sign test: p = 0.000488)" in told
    assert "adult: best so far higher in 3 of 3 generations, lower in 0; of the 6 first networks" in told


def test_tasks_that_are_not_complete_are_left_out() -> None:
    summary = given(lifted(FOUR), {"task": "adult", "seed": 2})()
    assert summary["tasks"]["adult"] is None and summary["ahead"] == 9
    assert "| adult |" not in search.tables(summary) and "| mnist |" in search.tables(summary)
    assert "No task has all" in search.tables(search.summary([], search.PRESETS["cpu"]))


def test_the_recipe_has_a_table_of_its_own() -> None:
    told = search.tables(PAPER()).partition("The recipe for training")[2]
    assert "| adult | best | 85.10 (85.00 to 85.20) | 87.10 (87.00 to 87.20) | +2.00 | 1.00 |" in told
    assert "| mnist | best |" in told and "| flowers |" not in told
    summary = given(lifted(FOUR), {"task": "adult", "seed": 2, "scheme": TRAINED})()
    assert summary["trained"]["adult"] is None and summary["tasks"]["adult"] is not None


def test_losses() -> None:
    lost = search.losses(given(lifted({"mnist": 0.05, "adult": -0.02}, ()))())
    assert lost[0] == "adult: best 78.10 (78.00 to 78.20) with AutoInit, 80.10 (80.00 to 80.20) evolved"
    assert all(line.startswith("adult") for line in lost)
