"""Settings of the whole process that several threads may need at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .lock import WALKING


class Shared:
    """A setting that is made when the first thread needs it and undone when the last one has ended."""

    def __init__(self, make: Callable[[], Callable[[], None]]) -> None:
        self._make = make
        self._users = 0
        self._undo: Callable[[], None] | None = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        try:
            with WALKING:
                if self._users == 0:
                    self._undo = self._make()
                self._users += 1
            yield
        finally:
            with WALKING:
                self._users = max(self._users - 1, 0)
                if self._users == 0 and self._undo is not None:
                    undo, self._undo = self._undo, None
                    undo()
