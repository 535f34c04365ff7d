"""Progress: on a terminal, after a while, on one line; otherwise not a character."""

from __future__ import annotations

import io
import sys

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit.core.progress import at, listening  # noqa: E402
from autoinit.report import progress  # noqa: E402
from autoinit.report.progress import CLEAR, EVERY, SILENT, Line  # noqa: E402


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def net() -> nn.Module:
    return nn.Sequential(*[nn.Linear(8, 8) for _ in range(20)])


def test_the_stages_of_an_analysis() -> None:
    heard: list[tuple[str, int, int | None, str]] = []
    with listening(lambda *told: heard.append(told)):
        autoinit.plan(net(), (4, 8))
    assert list(dict.fromkeys(stage for stage, *_ in heard)) == ["following the model", "solving"]
    assert [(done, of, place) for stage, done, of, place in heard if stage == "solving"][-1] == (19, 20, "19")
    count = len(heard)
    autoinit.plan(net(), (4, 8))
    assert len(heard) == count


def test_measuring_tells_its_repeats() -> None:
    heard = []
    with listening(lambda stage, done, of, place: heard.append((stage, done, of))):
        autoinit.measure(net(), (4, 8), repeats=3)
    assert [h for h in heard if h[0] == "measuring"] == [("measuring", k, 3) for k in range(3)]


def test_the_line_waits_and_is_taken_away() -> None:
    stream, now = Terminal(), [0.0]
    line = Line(stream, lambda: now[0])
    line("solving", 1, 4, "early")
    line.clear()
    assert stream.getvalue() == ""
    now[0] = SILENT
    line("solving", 2, 4, "blocks.1\x1b[31m")
    line("solving", 3, 4, "too soon")
    now[0] += EVERY
    line("following the model", 1234, None, "b" * 500)
    line.clear()
    _, first, second, last = stream.getvalue().split(CLEAR)
    assert first == "autoinit: solving, 50 %, 2 s  blocks.1\\x1b[31m" and last == ""
    assert second.startswith("autoinit: following the model, 1,234 ops, 2 s  bb") and "…" in second
    assert len(second) < 80


@pytest.mark.parametrize(("stream", "wanted"), [(io.StringIO(), True), (Terminal(), False)])
def test_nothing_where_nobody_looks(
    stream: io.StringIO, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SILENT", 0.0)
    autoinit.plan(net(), (4, 8), progress=wanted)
    assert stream.getvalue() == ""


def test_a_terminal_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SILENT", 0.0)
    autoinit.plan(net(), (4, 8))
    assert "autoinit: following the model, 1 op," in stream.getvalue() and stream.getvalue().endswith(CLEAR)


def test_it_is_taken_away_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "SILENT", 0.0)
    with pytest.raises(autoinit.AutoInitError):
        autoinit.plan(net(), (4, 8), max_ops=3)
    assert stream.getvalue().endswith(CLEAR)
    heard: list[str] = []
    at("nobody listens", 1)
    assert heard == []
