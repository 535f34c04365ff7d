"""Runs: history, journal, going on, failures, and what is refused."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import NetworkGenome, Preset, TaskError, run
from autoinit.labs.codeepneat.report import networks, report, table
from autoinit.labs.evolution import Journal, JournalError
from tests.labs.codeepneat.toy_tasks import EVOLUTION, Quiet

FILES = ("history.jsonl", "result.json")


def contents(folder: Path) -> tuple[bytes, ...]:
    return tuple((folder / name).read_bytes() for name in FILES)


def quietly(folder: Path, **options: Any) -> Any:
    chosen = {"task": Quiet, "preset": "smoke", "engine": "serial", "workers": 1, "progress": False, **options}
    return run(chosen.pop("task"), folder, **chosen)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    quietly(folder)
    return folder


def test_a_search_goes_on_with_more_generations(tmp_path: Path, whole: Path) -> None:
    quietly(tmp_path, generations=2)
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 2
    result = quietly(tmp_path)
    assert contents(tmp_path) == contents(whole)
    assert result.best.fitness == max(f for g in result.generations for f in g.fitness.values())
    assert result.test == {"accuracy": 0.5} and len(result.preserved) == 3


def test_the_display_says_where_the_search_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autoinit.labs.evolution.progress.EVERY", 0.0)
    quietly(tmp_path, generations=2, progress=True)
    told = capsys.readouterr().err.splitlines()
    assert any("toy_tasks:Quiet autoinit, generation 1/2: " in line for line in told)
    assert any(", generation 2/2, best 0." in line and ", mean 0." in line and " left" in line for line in told)
    assert "test of the best: 17/17, 0 failed" in told[-1]


def test_another_seed_another_search(tmp_path: Path, whole: Path) -> None:
    quietly(tmp_path, seed=1)
    assert contents(tmp_path) != contents(whole)


def test_initializations_share_the_search(tmp_path: Path, whole: Path) -> None:
    """Where fitness is the same, both arms see the same networks with the same seeds."""
    quietly(tmp_path, initialization="evolved")
    assert contents(tmp_path) == contents(whole)
    seeds = [
        {key: record.payload["seed"] for key, record in Journal.read(folder / "journal.jsonl").records.items()}
        for folder in (tmp_path, whole)
    ]
    assert seeds[0] == seeds[1] and len(set(seeds[0].values())) == len(seeds[0])


def test_no_network_is_trained_twice(whole: Path) -> None:
    generations = [json.loads(line) for line in (whole / "history.jsonl").read_text().splitlines()]
    used = {one["key"] for generation in generations for one in generation["networks"]}
    records = Journal.read(whole / "journal.jsonl").records
    assert sorted(key for key in records if key.startswith("network/")) == sorted(f"network/{key}" for key in used)
    assert [key.split("/")[0] for key in records if not key.startswith("network/")] == ["test after 4"]


def test_the_history_has_no_times(whole: Path) -> None:
    def names(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value).union(*(names(v) for v in value.values()))
        return set().union(*(names(v) for v in value)) if isinstance(value, list) else set()

    for line in (whole / "history.jsonl").read_text().splitlines():
        told = json.loads(line)
        assert not [name for name in names(told) if "second" in name or "time" in name or "finished" in name]
        assert {"generation", "networks", "blueprints", "modules", "preserved"} <= told.keys()


def test_the_report(whole: Path) -> None:
    found = report(whole)
    assert [row["generation"] for row in found["generations"]] == [0, 1, 2, 3]
    assert all(row["networks"] == EVOLUTION.networks and not row["failures"] for row in found["generations"])
    assert all(row["best"] >= row["mean"] for row in found["generations"])
    so_far = [row["best_so_far"] for row in found["generations"]]
    assert so_far == sorted(so_far) and found["result"]["fitness"] == so_far[-1]
    assert all(sum(row["module_species"]) == 8 for row in found["generations"])
    assert "times" in found and len(found["times"]["generations"]) == 4
    text = table(found)
    assert "initialization autoinit, seed 0" in text and "trained again and tested: accuracy 0.5000" in text
    best = networks(whole)
    assert [fitness for _, fitness, _ in best] == sorted((f for _, f, _ in best), reverse=True) and len(best) == 3


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({"task": "mnits"}, TaskError, "unknown task.*digits"),
        ({"task": "toy_tasks:Landscap"}, TaskError, "cannot be imported"),
        ({"task": "no_such_module:Task"}, TaskError, "cannot be imported"),
        ({"task": "toy_tasks:NOT_A_TASK"}, TaskError, "not a class of tasks"),
        ({"preset": "gpu"}, OptionError, "unknown preset 'gpu'.*one of smoke"),
        ({"initialization": "he"}, OptionError, "unknown initialization 'he'"),
        ({"generations": 0}, OptionError, "'generations' takes"),
        ({"seed": -1}, OptionError, "'seed' takes"),
        ({"engine": "threads"}, OptionError, "unknown engine"),
        ({"workers": 0, "engine": "processes", "task": "toy_tasks:Quiet"}, OptionError, "'workers' takes"),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], why: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=f"(?s){why}"):
        quietly(tmp_path / "run", **options)
    assert not (tmp_path / "run").exists(), "nothing is begun"


def test_classes_that_workers_cannot_import(tmp_path: Path) -> None:
    class Local(Quiet):
        pass

    Local.__module__ = "__main__"
    with pytest.raises(TaskError, match=r"(?s)workers cannot import.*engine='serial'"):
        quietly(tmp_path, task=Local, engine="processes")
    assert quietly(tmp_path, task=Local, generations=1).best.fitness > 0


def test_classes_that_are_written_anew(tmp_path: Path) -> None:
    """As in a notebook: the new class counts, not the one of that name that was there before."""
    for score in (0.25, 0.75):

        class Notebook(Quiet):
            value = score

            def train(self, *_: Any, **__: Any) -> dict[str, float]:
                return {"fitness": self.value}

        assert quietly(tmp_path / str(score), task=Notebook, generations=1).best.fitness == score


def test_the_report_of_a_search_that_goes_on(tmp_path: Path) -> None:
    quietly(tmp_path, generations=1)
    assert report(tmp_path)["result"]["generations"] == 1
    first = (tmp_path / "history.jsonl").read_text()
    (tmp_path / "history.jsonl").write_text(first + first)
    found = report(tmp_path)
    assert found["result"] is None and "has not been tested yet" in table(found)


def test_journals_of_other_searches_are_refused(tmp_path: Path) -> None:
    quietly(tmp_path, generations=1)
    before = contents(tmp_path)
    other = Preset("smoke", EVOLUTION.changed(change=0.5))
    for changed in ({"seed": 1}, {"initialization": "evolved"}, {"preset": other}):
        with pytest.raises(JournalError, match="another configuration"):
            quietly(tmp_path, generations=1, **changed)
    assert contents(tmp_path) == before


def test_a_task_that_never_works_is_told(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"(?s)every network of the first generation.*there is no data"):
        quietly(tmp_path, task="toy_tasks:Broken")


@pytest.mark.slow
def test_networks_over_their_time_are_the_worst(tmp_path: Path) -> None:
    result = quietly(tmp_path, task="toy_tasks:Slow", engine="processes", workers=2, generations=1)
    records = Journal.read(tmp_path / "journal.jsonl").records
    told = json.loads((tmp_path / "history.jsonl").read_text())
    for one in told["networks"]:
        odd = NetworkGenome.from_dict(records[f"network/{one['key']}"].payload["network"]).parameters % 2
        assert (one["status"], one["fitness"]) == (("time", 0.0) if odd else ("done", 0.5))
    assert {one["status"] for one in told["networks"]} == {"time", "done"} and result.best.fitness == 0.5
    limits = Preset("x", seconds=3.0, megabytes=100).limits
    assert (limits.seconds, limits.bytes) == (3.0, 100_000_000)


def command(folder: Path, workers: int = 2) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    words = ["run", str(folder), "--task", "toy_tasks:Landscape", "--preset", "smoke", "--workers", str(workers)]
    return subprocess.Popen(
        [sys.executable, "-m", "autoinit.labs.codeepneat", *words], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.slow
def test_killed_three_times(tmp_path: Path) -> None:
    """kill -9 at three random moments with two workers: history and result are those of an undisturbed run."""
    undisturbed = command(tmp_path / "whole")
    assert undisturbed.wait(timeout=300) == 0
    records = Journal.read(tmp_path / "whole" / "journal.jsonl").records
    rng = random.Random(3)
    moments = sorted(rng.sample(range(1, len(records) - 1), 3))
    path = tmp_path / "killed" / "journal.jsonl"
    for moment in moments:
        process = command(tmp_path / "killed")
        deadline = time.monotonic() + 300
        while not path.exists() or path.read_bytes().count(b"\n") < 1 + moment:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.002)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(Journal.read(path).records) < len(records)
    assert command(tmp_path / "killed", workers=1).wait(timeout=300) == 0, "the number of workers may change"
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    lines = [json.loads(line)["key"] for line in path.read_text().splitlines()[1:]]
    assert Counter(lines) == Counter(records.keys()), "nothing is lost, and nothing is done twice"

    failures: Counter[str] = Counter()
    for row in report(tmp_path / "whole")["generations"]:
        failures.update(row["failures"])
    assert failures.keys() <= {"error", "diverged", "crashed"} and failures, "the landscape has traps"
    worst = {one["fitness"] for line in (tmp_path / "whole" / "history.jsonl").read_text().splitlines()
             for one in json.loads(line)["networks"] if one["status"] != "done"}  # fmt: skip
    assert worst == {0.0}


@pytest.mark.slow
def test_a_ray_cluster_gives_the_same(tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    quietly(tmp_path, task="tests.labs.codeepneat.toy_tasks:Quiet", engine="ray", workers=2)
    assert contents(tmp_path) == contents(whole)
    journals = [Journal.read(folder / "journal.jsonl").outcomes for folder in (tmp_path, whole)]
    values = [{key: (o.status, o.value) for key, o in outcomes.items()} for outcomes in journals]
    assert values[0] == values[1]
