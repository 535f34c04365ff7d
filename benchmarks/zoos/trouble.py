"""Tasks that a run must survive, for testing the worker processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any


def misbehave(task: str, report: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Sleep, allocate without end, leave, raise; or do nothing wrong."""
    word = task.split()[0]
    if word == "sleep":
        report({"name": task, "stage": "asleep"})
        time.sleep(600)
    if word == "allocate":
        held = []
        while True:
            held.append(b"x" * 2**25)
            time.sleep(0.01)
    if word == "exit":
        os._exit(7)
    if word == "raise":
        raise MemoryError("not a matter of the run")
    return {"name": task, "outcome": "measured", "process": os.getpid()}
