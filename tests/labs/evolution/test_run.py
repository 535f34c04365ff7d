"""Runs: each job once, within its limits, and every ending told apart."""

from __future__ import annotations

import math
import os
import signal
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autoinit.errors import OptionError
from autoinit.labs.evolution import Engine, Job, Journal, JournalError, Limits, Outcome, WorkError, run, running
from autoinit.labs.evolution.progress import Silent

MEGABYTE = 1 << 20


def go(jobs: Any, work: str, journal: Path, **options: Any) -> dict[str, Outcome]:
    return run(jobs, f"deeds:{work}", journal, progress=False, **options)


def deeds(*names: str) -> list[Job]:
    return [Job(name, {"deed": name}) for name in names]


def doubles(count: int, **more: Any) -> list[Job]:
    return [Job(f"job {k}", {"x": k, **more}) for k in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "journal.jsonl"


@pytest.mark.parametrize("engine", ["processes", "serial"])
def test_every_job_is_done(path: Path, engine: str) -> None:
    outcomes = go(doubles(9), "double", path, engine=engine)
    assert {key: o.value["y"] for key, o in outcomes.items() if o.value} == {f"job {k}": 2 * k for k in range(9)}
    assert all(o.done and o.seconds >= 0 and (o.peak_bytes or 0) > MEGABYTE for o in outcomes.values())
    processes = {o.value["process"] for o in outcomes.values() if o.value}
    assert len(processes) == 1 if engine == "serial" else len(processes) <= 2, "workers live on from job to job"
    assert Journal.read(path).outcomes == outcomes


def test_jobs_run_at_the_same_time_and_are_taken_one_by_one(path: Path) -> None:
    taken: list[float] = []

    def lazily() -> Iterator[Job]:
        for job in doubles(6, sleep=0.25):
            taken.append(time.monotonic())
            yield job

    outcomes = go(lazily(), "double", path, workers=2)
    assert len({o.value["process"] for o in outcomes.values() if o.value}) == 2
    assert taken[-1] - taken[0] > 0.4, "the last is taken when four are done: after two rounds of 0.25 s"


def test_finished_keys_are_not_run_again(path: Path) -> None:
    first = go(doubles(3), "double", path, engine="serial")
    size = path.stat().st_size
    assert go(doubles(3), "double", path, engine=Unstartable) == first
    assert path.stat().st_size == size
    more = go(doubles(5), "double", path, engine="serial")
    assert list(more) == [f"job {k}" for k in range(5)] and {**more, **first} == more


def test_what_is_done_counts_from_the_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished jobs may stand anywhere among the others: the first estimate knows of all of them."""
    go(doubles(5)[1::2], "double", path, engine="serial")
    told: list[str] = []

    class Watching(Silent):
        def add(self, outcome: Outcome, fresh: bool = True) -> None:
            super().add(outcome, fresh)
            told.append(f"{self.tally.done}/{self.tally.total} {'new' if fresh else 'old'}")

    monkeypatch.setattr(running, "watcher", lambda shown, title, total: Watching(title, total))
    go(doubles(5), "double", path, engine="serial")
    assert told == ["1/5 old", "2/5 old", "3/5 new", "4/5 new", "5/5 new"]
    told.clear()
    go(iter(doubles(6)), "double", path, engine="serial")
    assert told == [f"{k + 1}/None old" for k in range(5)] + ["6/None new"]


class Unstartable(Engine):
    def __init__(self, *_: Any, **__: Any) -> None:
        raise AssertionError("there is nothing to do")


def test_how_jobs_end(path: Path) -> None:
    """One run with everything that can go wrong; the workers go on to the next job each time."""
    names = (
        "work",
        "loop",
        "allocate",
        "abort",
        "leave",
        "raise",
        "short",
        "exit",
        "number",
        "object",
        "print",
        "threads",
    )
    outcomes = go(deeds(*names), "deeds", path, limits=Limits(seconds=6.0, bytes=160 * MEGABYTE))
    assert {key: o.status for key, o in outcomes.items()} == {
        "work": "done", "print": "done", "threads": "done", "loop": "time", "allocate": "memory", "short": "memory",
        "abort": "crashed", "leave": "crashed", "raise": "error", "exit": "error", "number": "error", "object": "error",
    }  # fmt: skip
    assert all((o.value is None) == (o.status != "done") for o in outcomes.values())
    assert 6.0 <= outcomes["loop"].seconds < 30.0 and "after 6 s" in outcomes["loop"].message
    assert (outcomes["allocate"].peak_bytes or 0) > 160 * MEGABYTE
    assert outcomes["threads"].value == {"threads": "1"}
    for name, text in {
        "abort": "SIGABRT",
        "leave": "code 3",
        "raise": "ValueError: the deed is wrong",
        "exit": "SystemExit: 5",
        "number": "returned a int, not a dict",
        "object": "value['y'] is a object",
    }.items():
        assert text in outcomes[name].message
    assert 'File "deeds.py", line' in outcomes["raise"].message, "where it happened, without the machine's folders"
    assert "in deeds" in outcomes["abort"].message, "also of a crash"


def test_what_a_job_leaves_behind_does_not_count_against_the_next(path: Path) -> None:
    """Each job keeps 96 MB; two in one process would break the limit."""
    jobs = [Job(str(k), {"deed": "hold"}) for k in range(2)]
    outcomes = go(jobs, "deeds", path, workers=1, limits=Limits(bytes=200 * MEGABYTE))
    assert [o.status for o in outcomes.values()] == ["done"] * 2
    assert len({o.value["process"] for o in outcomes.values() if o.value}) > 1


def test_odd_numbers_come_back(path: Path) -> None:
    for outcomes in (go([Job("k", {"x": math.inf})], "odd_numbers", path), Journal.read(path).outcomes):
        value = outcomes["k"].value
        assert value is not None and math.isnan(value["nan"])
        assert (value["inf"], value["less"], value["x"]) == (math.inf, -math.inf, math.inf)
        assert value["numpy"] == 0.5 and value["array"] == [0, 1, 2]


def test_retry(path: Path) -> None:
    with Journal(path, {"work": "deeds:double"}) as journal:
        journal.append(Outcome("job 0", "crashed"), {"x": 0})
        journal.append(Outcome("job 1", "error"), {"x": 1})
    kept = go(doubles(3), "double", path, engine="serial")
    assert [o.status for o in kept.values()] == ["crashed", "error", "done"]
    again = go(doubles(3), "double", path, engine="serial", retry=["crashed"])
    assert {key: o.status for key, o in again.items()} == {"job 0": "done", "job 1": "error", "job 2": "done"}
    assert Journal.read(path).records["job 0"].attempt == 2


@pytest.mark.parametrize("engine", ["processes", "serial"])
def test_work_that_cannot_be_loaded_ends_the_run(path: Path, engine: str) -> None:
    with pytest.raises(WorkError, match="has no attribute 'missing'"):
        go(doubles(2), "missing", path, engine=engine)
    assert Journal.read(path).outcomes == {}


def test_workers_that_die_before_they_begin_end_the_run(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path.parent.parent / "deadly.py").write_text("import os\nos.write(2, b'last words')\nos._exit(9)\n")
    monkeypatch.syspath_prepend(str(path.parent.parent))
    with pytest.raises(WorkError, match=r"3 workers in a row died(.|\n)*code 9\s+last words"):
        run(doubles(2), "deadly:work", path, progress=False)
    assert Journal.read(path).outcomes == {}


def test_the_death_of_an_idle_worker_costs_nothing(path: Path) -> None:
    def murderous() -> Iterator[Job]:
        yield Job("before", {"x": 1})
        os.kill(Journal.read(path).outcomes["before"].value["process"], signal.SIGKILL)
        yield Job("after", {"x": 2})

    outcomes = go(murderous(), "double", path, workers=1)
    assert [o.status for o in outcomes.values()] == ["done", "done"]
    assert len({o.value["process"] for o in outcomes.values() if o.value}) == 2


def test_a_limit_below_what_the_work_itself_needs_is_told(path: Path) -> None:
    with pytest.raises(WorkError, match=r"loading the work function alone(.|\n)*Limits\(bytes"):
        go(doubles(2), "double", path, limits=Limits(bytes=10 * MEGABYTE))


@pytest.mark.parametrize(("options", "message"), [
    ({"engine": "steam"}, "one of processes, serial, ray"),
    ({"workers": 0}, "'workers' takes a positive integer"),
    ({"threads": True}, "'threads' takes a positive integer"),
    ({"retry": ["tired"]}, r"received: tired(.|\n)*crashed"),
])  # fmt: skip
def test_bad_options(path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        go(doubles(2), "double", path, **options)
    assert not path.exists()


@pytest.mark.parametrize("work", ["deeds", "deeds:", ":double", "no such:thing", "__main__:double", 7])
def test_bad_names_of_work(path: Path, work: Any) -> None:
    with pytest.raises(WorkError, match=r"package\.module:function"):
        run(doubles(1), work, path, progress=False)
    assert not path.exists()


def test_bad_jobs(path: Path) -> None:
    with pytest.raises(OptionError, match="same key"):
        go([*doubles(1), *doubles(1)], "double", path, engine="serial")
    with pytest.raises(OptionError, match=r"job 'odd'(.|\n)*value\['x'\] is a set"):
        go([Job("odd", {"x": {1}})], "double", path, engine="serial")
    go([Job("a", {"x": 1})], "double", path, engine="serial")
    with pytest.raises(JournalError, match=r"another payload(.|\n)*'x': 1(.|\n)*'x': 2"):
        go([Job("a", {"x": 2})], "double", path, engine="serial")
    for key, payload in (("", {}), (1, {}), ("a", [1])):
        with pytest.raises(OptionError):
            Job(key, payload)  # type: ignore[arg-type]
    for given in ({"seconds": 0}, {"bytes": -1}, {"seconds": True}, {"bytes": "2 GB"}):
        with pytest.raises(OptionError, match="positive number"):
            Limits(**given)  # type: ignore[arg-type]


def test_another_configuration_or_work_is_another_run(path: Path) -> None:
    go(doubles(1), "double", path, engine="serial", config={"epochs": 1})
    with pytest.raises(JournalError, match="epochs: 1 in the journal, 2 now"):
        go(doubles(1), "double", path, engine="serial", config={"epochs": 2})
    with pytest.raises(JournalError, match="deeds:same"):
        go(doubles(1), "same", path, engine="serial", config={"epochs": 1})


def test_serial_says_that_it_enforces_nothing(path: Path) -> None:
    with pytest.warns(UserWarning, match="does not enforce limits"):
        go(doubles(1), "double", path, engine="serial", limits=Limits(seconds=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        go(doubles(2), "double", path, engine="serial")


def test_an_interrupted_job_is_not_begun_again_by_the_interruption(tmp_path: Path) -> None:
    """In this process too: only the next call of run does it."""
    calls = tmp_path / "calls"
    jobs = [Job("a", {"file": str(calls)})]
    with pytest.raises(KeyboardInterrupt):
        run(jobs, "deeds:interrupted_once", tmp_path / "j.jsonl", engine="serial", progress=False)
    assert calls.read_text() == "called\n"
    assert run(jobs, "deeds:interrupted_once", tmp_path / "j.jsonl", engine="serial", progress=False)["a"].done
    assert calls.read_text() == "called\n" * 2
