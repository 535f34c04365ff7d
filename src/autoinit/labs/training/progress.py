"""How far a run is, and how long it will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TextIO


class Moment(NamedTuple):
    """What a listener is told after each step."""

    step: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float
    """Since the beginning of the run, what came before an interruption included."""
    seconds_left: float
    """If the rest takes as long per step as the steps since the start or the resumption."""


Listener = Callable[[Moment], object]


def duration(seconds: float) -> str:
    """1:05, 2:03:04: minutes, or hours, and seconds."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def describe(moment: Moment) -> str:
    return (
        f"step {moment.step} of {moment.steps}, loss {moment.loss:.3f}, "
        f"{duration(moment.seconds)} passed, {duration(moment.seconds_left)} left"
    )


class Lines:
    """A listener for logs: one line now and then, and one at the end."""

    def __init__(self, title: str = "", every: float = 30.0, file: TextIO | None = None) -> None:
        self.title, self.every, self.file = title, every, file
        self.last = time.monotonic()

    def __call__(self, moment: Moment) -> None:
        if moment.step == moment.steps or time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(f"{self.title}: {describe(moment)}" if self.title else describe(moment), file=self.file or sys.stderr)


@contextmanager
def bar(title: str = "") -> Iterator[Listener]:
    """A listener that draws a bar in a terminal, and prints lines elsewhere or without rich.

    with bar("ResNet-56") as progress:
        train(model, data, recipe, seed=0, progress=progress)
    """
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
    except ImportError:
        yield Lines(title)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(title)
        return
    with Progress(TextColumn(title), BarColumn(), TextColumn("{task.fields[text]}"), console=console) as progress:
        task = progress.add_task(title, text="", total=None)
        yield lambda moment: progress.update(
            task, completed=moment.step, total=moment.steps, text=describe(moment), refresh=moment.step == moment.steps
        )
