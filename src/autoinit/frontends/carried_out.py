"""Steps that put something back: they come to their end, also when the user interrupts them."""

from __future__ import annotations

from collections.abc import Callable

MOST_INTERRUPTS = 100


def carried_out(steps: Callable[[], None]) -> None:
    """Run `steps`, which may be run again from the start, to their end; an interrupt meanwhile is raised afterwards."""
    interrupt: KeyboardInterrupt | None = None
    for _ in range(MOST_INTERRUPTS):
        try:
            steps()
            break
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
