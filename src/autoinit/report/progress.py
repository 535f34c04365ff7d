"""One line on a terminal that says how far a long analysis is; nothing in pipes, files and notebooks."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TextIO

from ..core.progress import listening
from ..names import shown
from .layout import shortened

SILENT = 2.0
"""Seconds before the line appears: most analyses are over by then."""
EVERY = 0.1
CLEAR = "\r\x1b[2K"


class Line:
    """The line, written anew in place."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = monotonic) -> None:
        self.stream, self.clock = stream, clock
        self.began = clock()
        self.due = self.began + SILENT
        self.is_there = False

    def __call__(self, stage: str, done: int, of: int | None, place: str) -> None:
        now = self.clock()
        if now < self.due:
            return
        self.due, self.is_there = now + EVERY, True
        share = f"{done:,} op{'s' * (done != 1)}" if of is None else f"{100 * done // max(of, 1)} %"
        text = f"autoinit: {stage}, {share}, {now - self.began:.0f} s"
        room = shutil.get_terminal_size().columns - len(text) - 4
        where = f"  {shortened(shown(place), room)}" if place and room >= 12 else ""
        self.stream.write(CLEAR + text + where)
        self.stream.flush()

    def clear(self) -> None:
        if self.is_there:
            self.stream.write(CLEAR)
            self.stream.flush()


@contextmanager
def progress(wanted: bool = True) -> Iterator[None]:
    """What is analysed in here shows how far it is, if that is wanted and standard error is a terminal."""
    stream = sys.stderr
    if not wanted or stream is None or not stream.isatty():
        yield
        return
    line = Line(stream)
    try:
        with listening(line):
            yield
    finally:
        line.clear()
