"""What is said while a run goes on."""

from __future__ import annotations

from typing import Any

import pytest

from autoinit.labs.evolution import Outcome
from autoinit.labs.evolution import progress as module
from autoinit.labs.evolution.progress import Bar, Lines, Silent, Tally, duration, watcher


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_the_estimate_counts_only_what_this_run_did(clock: Clock) -> None:
    tally = Tally(100)
    for _ in range(60):
        tally.add(Outcome("old", "done"), fresh=False)
    assert tally.left is None and str(tally) == "60/100, 0 failed"
    clock.now = 20.0
    for status in ("done", "time", "done", "error"):
        tally.add(Outcome("new", status), fresh=True)
    assert tally.rate == 4 / 20 and tally.left == 36 / 0.2
    assert str(tally) == "64/100, 2 failed, 0.2/s, 3 min 00 s left"
    clock.now = 400.0
    assert str(tally) == "64/100, 2 failed, 0.6/min, 1 h 00 min left"
    assert str(Tally(None)) == "0 done, 0 failed"


def test_durations() -> None:
    assert [duration(s) for s in (0.4, 59.6, 3599, 86400)] == ["0 s", "1 min 00 s", "59 min 59 s", "24 h 00 min"]


def test_lines_come_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Lines("search", 3) as lines:
        for clock.now in (1.0, 31.0, 32.0):
            lines.add(Outcome("k", "done"))
    said = capsys.readouterr().err.splitlines()
    assert said == ["search: 2/3, 0 failed, 3.9/min, 16 s left", "search: 3/3, 0 failed, 5.6/min, 0 s left"]


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    bar: Any = watcher(True, "search", 2)
    assert isinstance(bar, Bar)
    with bar:
        bar.add(Outcome("k", "error"))
    assert "1/2, 1 failed" in capsys.readouterr().err


def test_who_watches() -> None:
    assert type(watcher(False, "", 1)) is Silent and type(watcher(True, "", 1)) is Lines


def test_titles_and_totals_may_change() -> None:
    """A search says in which generation it is, and learns how many evaluations there are."""
    pytest.importorskip("rich")
    with Bar("first", None) as bar:
        bar.title, bar.tally.total = "generation 2/3, best 0.9", 12
        bar.add(Outcome("a", "done"))
        (task,) = bar._bar.tasks
        assert (task.description, task.total, task.completed) == ("generation 2/3, best 0.9", 12, 1)
