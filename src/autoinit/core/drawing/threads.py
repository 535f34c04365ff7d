"""All cores for one array: work that falls into pieces whose results do not depend on who does them, or when."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor


def count() -> int:
    """OMP_NUM_THREADS, as other numerical libraries understand it; without it, the cores that this process may use."""
    text = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if text.isdigit() and int(text) > 0:
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(pieces: Iterable[Callable[[], None]]) -> None:
    """Do all of them; the first exception is raised once none is being worked on any more."""
    todo = list(pieces)
    workers = min(count(), len(todo))
    if workers < 2:
        for piece in todo:
            piece()
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda piece: piece(), todo))  # those that nobody began are dropped if one fails
