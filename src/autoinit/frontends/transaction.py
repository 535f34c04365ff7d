"""All writes, or none: whatever happens between the first write and the last.

    with Transaction() as writes:
        writes.undo("name", put_back)   # what brings the old state back, ready before the write
        ...                             # the write
        writes.breathe()                # a good moment for Ctrl-C

An exception of any kind runs what was given to `undo`, last first. Ctrl-C waits for `breathe` or the end (in the main
thread, the only one that it reaches), so that none arrives between a write and its undoing, or while things are being
put back. What puts things back should need no memory: copies are made before.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from ..errors import PlanError

ATTEMPTS = 3


class Transaction:
    """Undoes what was done inside of it if that ends with an exception."""

    def __init__(self) -> None:
        self._undo: list[tuple[str, Callable[[], Any]]] = []
        self._interrupts = Interrupts()

    def __enter__(self) -> Transaction:
        self._interrupts.hold(sys._getframe(1))
        return self

    def undo(self, name: str, put_back: Callable[[], Any]) -> None:
        """Register, before something is written, what puts the old state back. It may run twice, and also if the
        write has not happened."""
        self._undo.append((name, put_back))

    def breathe(self) -> None:
        """Let an interrupt through that came meanwhile."""
        self._interrupts.deliver()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is not None:
                self._put_back(error)
        finally:
            self._interrupts.release()
        self._interrupts.deliver()

    def _put_back(self, error: BaseException | None) -> None:
        failed: list[str] = []
        while self._undo:
            name, put_back = self._undo[-1]
            if not _tried(put_back):
                failed.append(name)
            self._undo.pop()
        if failed:
            raise PlanError("writing failed, and the old values could not be put back", where=failed[0],
                            received=f"{len(failed)} such parameters",
                            fix="build the model again") from error  # fmt: skip


def _tried(put_back: Callable[[], Any]) -> bool:
    """An exception that is thrown into this thread from outside passes; one that comes again does not."""
    for _ in range(ATTEMPTS):
        try:
            put_back()
            return True
        except BaseException:
            continue
    return False


def _handler() -> Any:
    """Of SIGINT: a function, a number, None, or one of ours."""
    return signal.getsignal(signal.SIGINT)


class Interrupts:
    """Keeps SIGINT back while a frame runs, and hands it to the handler that was there."""

    def __init__(self) -> None:
        self.pending = False
        self._before: Any = None
        self._place: tuple[int, Any] | None = None

    def hold(self, frame: FrameType) -> None:
        """From now on, as long as `frame` runs. A handler that is not Python's, or none, is left alone."""
        if threading.current_thread() is not threading.main_thread():
            return
        before = _handler()
        if isinstance(before, Interrupts) and not before._holds(frame):
            before = before._before  # left behind
        if callable(before):
            self._before, self._place = before, (id(frame), frame.f_code)
            signal.signal(signal.SIGINT, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._holds(frame):
            self.pending = True
        else:  # the frame ended without `release`
            self.release()
            self._before(number, frame)

    def _holds(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if (id(frame), frame.f_code) == self._place:
                return True
            frame = frame.f_back
        return False

    def release(self) -> None:
        """The handler of before is back."""
        if self._place is not None and _handler() is self:
            signal.signal(signal.SIGINT, self._before)

    def deliver(self) -> None:
        """Hand over what was kept back: usually this raises KeyboardInterrupt."""
        if self.pending:
            self.pending = False
            self._before(signal.SIGINT, sys._getframe())
