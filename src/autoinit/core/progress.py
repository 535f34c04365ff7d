"""How far a long analysis is: what works says so here, and whoever wants to hear of it listens.

    with listening(print):
        ...  # in here, `at` calls print
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, "int | None", str], None]
"""Is told the stage, how much of it is done, of how much (None: nobody knows), and the place."""

_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def at(stage: str, done: int, of: int | None = None, place: str = "") -> None:
    """Tell how far it is; cheap where nobody listens."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(stage, done, of, place)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Let `listener` hear what this thread's work says (None: nobody)."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
