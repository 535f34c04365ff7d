"""Throwing exceptions into a call at every single line that it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class Lines:
    """Counts the lines that run in files whose name `counts`; throws an exception at number `stop`."""

    def __init__(self, counts: Callable[[str], bool], stop: int = 0, error: type[BaseException] = KeyboardInterrupt):
        self.counts, self.stop, self.error = counts, stop, error
        self.ran = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if not self.counts(frame.f_code.co_filename):
            return None
        if event == "line":
            self.ran += 1
            if self.ran == self.stop:
                raise self.error
        return self

    def run(self, call: Callable[[], Any]) -> bool:
        """Whether the call came to its end."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            call()
        except self.error:
            return False
        finally:
            sys.settrace(before)
        return True


def everywhere(
    prepare: Callable[[], tuple[Callable[[], Any], Callable[[], None]]],
    counts: Callable[[str], bool],
    error: type[BaseException] = KeyboardInterrupt,
    step: int = 1,
) -> int:
    """Throw `error` at every line of a call (`prepare` gives it, and a check of what it left); how many there are."""
    stop, finished = 1, False
    while not finished:
        call, check = prepare()
        finished = Lines(counts, stop, error).run(call)
        check()
        stop += step
    return stop
