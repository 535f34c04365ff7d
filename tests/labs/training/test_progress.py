from __future__ import annotations

import io
import threading
import time

import pytest
import torch

from autoinit.labs.training import Moment, Recipe, bar, train
from autoinit.labs.training.ahead import prepared
from autoinit.labs.training.batches import Batches
from autoinit.labs.training.progress import Lines, describe, duration
from tests.labs.training.pictures import noise


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (65.4, "1:05"), (3599.7, "1:00:00"), (90061, "25:01:01")])
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_moments_of_a_run():
    moments: list[Moment] = []
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 4))
    recipe = Recipe(steps=5, schedule="triangle", learning_rate=1e-3, batch_size=8)
    record = train(model, noise(), recipe, seed=0, progress=moments.append)
    assert [m.step for m in moments] == [1, 2, 3, 4, 5]
    assert [m.learning_rate for m in moments] == pytest.approx([1e-3 * (1 - k / 5) for k in range(5)])
    assert tuple(m.loss for m in moments) == record.losses
    assert all(m.seconds_left == pytest.approx(m.seconds / m.step * (5 - m.step)) for m in moments)
    assert moments[-1].seconds_left == 0


def test_lines_now_and_then_and_at_the_end():
    file = io.StringIO()
    lines = Lines("demo", every=1e6, file=file)
    for step in range(1, 5):
        lines(Moment(step, 4, 0.5, 0.1, 10.0 * step, 10.0 * (4 - step)))
    assert file.getvalue() == "demo: step 4 of 4, loss 0.500, 0:40 passed, 0:00 left\n"
    often = io.StringIO()
    lines = Lines(every=0, file=often)
    lines(Moment(1, 4, 0.5, 0.1, 10.0, 30.0))
    assert often.getvalue() == "step 1 of 4, loss 0.500, 0:10 passed, 0:30 left\n"


def test_bar_prints_lines_where_there_is_no_terminal(capsys):
    with bar("demo") as listener:
        listener(Moment(4, 4, 0.5, 0.1, 40.0, 0.0))
    assert "demo: step 4 of 4" in capsys.readouterr().err


def test_bar_in_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with bar("demo") as listener:
        listener(Moment(1, 4, 0.5, 0.1, 40.0, 120.0))
        listener(Moment(4, 4, 0.25, 0.1, 160.0, 0.0))
    shown = capsys.readouterr().err
    assert "demo" in shown and "loss 0.250" in shown and "0:00 left" in shown


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_prepared_ahead_are_the_same(workers):
    batches = Batches(noise(), Recipe(epochs=3, batch_size=7, flip=True, pad=1, cutmix=1.0), seed=4)
    plain = list(prepared(batches, 2, 0))
    ahead = list(prepared(batches, 2, workers))
    assert len(plain) == len(ahead) == 3 * 4 - 2
    for (a, s), (b, t) in zip(plain, ahead, strict=True):
        assert torch.equal(a, b) and torch.equal(s.others, t.others) and s.share == t.share


def test_threads_end_with_a_run_that_ends_early():
    before = threading.active_count()
    stream = prepared(Batches(noise(), Recipe(epochs=50, batch_size=7), seed=4), 0, 2)
    next(stream)
    assert threading.active_count() > before
    stream.close()
    deadline = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_describe_names_what_counts():
    assert describe(Moment(2, 8, 1.25, 0.1, 61.0, 183.0)) == "step 2 of 8, loss 1.250, 1:01 passed, 3:03 left"
