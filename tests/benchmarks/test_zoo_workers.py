"""What a run of the zoo survives: its journal, and processes that meet limits, crash or are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import zoo
from benchmarks.zoos.journal import Journal
from benchmarks.zoos.running import is_done
from benchmarks.zoos.study import Settings
from benchmarks.zoos.trouble import misbehave
from benchmarks.zoos.workers import Limits, run


def test_journal_keeps_the_last_record_of_a_name(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "deep" / "zoo.jsonl")
    assert journal.read() == {}
    for record in ({"name": "a", "x": 1}, {"name": "b", "x": 2}, {"name": "a", "x": 3}):
        journal.add(record)
    assert journal.read() == {"a": {"name": "a", "x": 3}, "b": {"name": "b", "x": 2}}
    journal.compact()
    assert len(journal.path.read_text().splitlines()) == 2
    assert journal.read()["a"]["x"] == 3


def test_journal_survives_a_line_cut_short(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "zoo.jsonl")
    journal.add({"name": "a"})
    journal.add({"name": "b"})
    journal.path.write_bytes(journal.path.read_bytes()[:-5])  # killed while writing
    assert list(journal.read()) == ["a"]
    journal.add({"name": "c"})
    assert list(journal.read()) == ["a", "c"]


def test_resuming_skips_what_is_done_with_the_same_settings() -> None:
    settings = Settings(seeds=3)
    done = {"name": "a", "outcome": "measured", "settings": settings.key}
    failed = {**done, "outcome": "time limit"}
    assert is_done(done, settings, retry=False) and is_done(done, settings, retry=True)
    assert is_done(failed, settings, retry=False) and not is_done(failed, settings, retry=True)
    assert not is_done(done, Settings(seeds=5), retry=False)
    assert not is_done(None, settings, retry=False)


@pytest.mark.slow
def test_a_time_limit_and_crashes_lose_one_model_each() -> None:
    """One process takes everything in turn; it is replaced each time it is lost."""
    tasks = ["fine 1", "sleep", "fine 2", "exit", "fine 3", "raise", "fine 4"]
    found = dict(run(tasks, misbehave, jobs=1, limits=Limits(seconds=10.0)))
    assert {k: v["outcome"] for k, v in found.items()} == {
        **{f"fine {k}": "measured" for k in (1, 2, 3, 4)},
        "sleep": "time limit",
        "exit": "crash",
        "raise": "crash",
    }
    assert found["sleep"]["stage"] == "asleep"  # what was reported before the end is kept
    assert "exit code 7" in found["exit"]["error"]


@pytest.mark.slow
def test_a_memory_limit_loses_one_model() -> None:
    """However slowly it allocates: time is not what ends it."""
    found = dict(run(["allocate", "fine"], misbehave, jobs=1, limits=Limits(seconds=600.0, megabytes=1500.0)))
    assert {k: v["outcome"] for k, v in found.items()} == {"allocate": "memory limit", "fine": "measured"}


@pytest.mark.slow
def test_two_processes_share_the_tasks_and_are_replaced() -> None:
    names = [f"fine {k}" for k in range(6)]
    begun: list[str] = []
    found = dict(run(names, misbehave, jobs=2, limits=Limits(tasks=2), started=begun.append))
    assert sorted(found) == sorted(begun) == names
    per_process = [sum(r["process"] == p for r in found.values()) for p in {r["process"] for r in found.values()}]
    assert max(per_process) <= 2
    assert all(r["process"] != os.getpid() for r in found.values())


@pytest.mark.slow
def test_leaving_early_ends_the_processes() -> None:
    pids = []
    for _, result in run(["fine", "sleep", "sleep too"], misbehave, jobs=2, limits=Limits()):
        pids.append(result["process"])
        break
    _until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


STOPPED = """
import sys
from pathlib import Path
from benchmarks.zoos.journal import Journal
from benchmarks.zoos.trouble import misbehave
from benchmarks.zoos.workers import Limits, run

if __name__ == "__main__":
    for name, record in run(["fine 1", "fine 2", "sleep"], misbehave, jobs=1, limits=Limits()):
        Journal(Path(sys.argv[1])).add(record)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_keeps_what_was_finished(tmp_path: Path) -> None:
    script, journal = tmp_path / "stopped.py", Journal(tmp_path / "zoo.jsonl")
    script.write_text(STOPPED)
    root = str(Path(zoo.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, f"{root}/src"])}
    process = subprocess.Popen([sys.executable, str(script), str(journal.path)], env=environment)
    _until(lambda: len(journal.read()) == 2)
    process.kill()
    process.wait()
    assert list(journal.read()) == ["fine 1", "fine 2"]
    worker = journal.read()["fine 1"]["process"]
    _until(lambda: not Path(f"/proc/{worker}").exists())  # nothing goes on behind our back


def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
