"""How far a run is: a bar on a terminal, a line now and then elsewhere (both on standard error)."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from .jobs import Outcome

EVERY = 30.0
"""Seconds between two lines where there is no terminal."""


class Tally:
    """Counts what has ended, and estimates how long the rest will take from what this run itself has done."""

    def __init__(self, total: int | None) -> None:
        self.total, self.done, self.failed, self.fresh = total, 0, 0, 0
        self._begin = time.monotonic()

    def add(self, outcome: Outcome, fresh: bool) -> None:
        self.done += 1
        self.failed += not outcome.done
        self.fresh += fresh

    @property
    def rate(self) -> float:
        """Evaluations per second of this run."""
        return self.fresh / max(time.monotonic() - self._begin, 1e-9)

    @property
    def left(self) -> float | None:
        """Seconds that the rest will take, if that can be said."""
        return (self.total - self.done) / self.rate if self.total is not None and self.fresh else None

    def __str__(self) -> str:
        parts = [
            f"{self.done}/{self.total}" if self.total is not None else f"{self.done} done",
            f"{self.failed} failed",
        ]
        if self.fresh:
            parts.append(f"{self.rate:.2g}/s" if self.rate >= 0.1 else f"{self.rate * 60:.2g}/min")
        if self.left is not None:
            parts.append(f"{duration(self.left)} left")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Silent:
    """Counts and says nothing; the others say it."""

    def __init__(self, title: str, total: int | None) -> None:
        self.title, self.tally = title or "evaluations", Tally(total)

    def add(self, outcome: Outcome, fresh: bool = True) -> None:
        self.tally.add(outcome, fresh)
        self.tick()

    def tick(self) -> None:
        """Called about twice a second."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Lines(Silent):
    def __enter__(self) -> Lines:
        self._next = time.monotonic() + EVERY
        return self

    def tick(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            self._print()

    def __exit__(self, *_: Any) -> None:
        self._print()

    def _print(self) -> None:
        print(f"{self.title}: {self.tally}", file=sys.stderr, flush=True)


class Bar(Silent):
    def __enter__(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[tally]}"))
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(self.title, total=self.tally.total, tally=str(self.tally))
        self._bar.start()
        return self

    def tick(self) -> None:
        self._bar.update(
            self._task, description=self.title, completed=self.tally.done, total=self.tally.total, tally=str(self.tally)
        )

    def __exit__(self, *_: Any) -> None:
        self.tick()
        self._bar.stop()


def watcher(shown: bool, title: str, total: int | None) -> Silent:
    """A bar on a terminal (if rich is installed), lines elsewhere, or nothing at all."""
    if not shown:
        return Silent(title, total)
    if sys.stderr.isatty():
        try:
            import rich  # noqa: F401
        except ImportError:
            return Lines(title, total)
        return Bar(title, total)
    return Lines(title, total)
