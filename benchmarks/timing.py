"""Ratios of times with their bounds, and a table that says which hold."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .tables import Table


@dataclass(frozen=True)
class Result:
    """A ratio, what it is made of, and its bound."""

    what: str
    numerator: float
    denominator: float
    limit: float
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        return self.numerator / self.denominator

    @property
    def passed(self) -> bool:
        return self.ratio <= self.limit


def best(repeats: int, *actions: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """The shortest time of each action in seconds; they take turns, so that a busy machine hits all alike.

    clock: `time.process_time` for seconds of the processor, where an action uses one thread.
    """
    for action in actions:
        action()  # warm
    times = [float("inf")] * len(actions)
    for _ in range(repeats):
        for k, action in enumerate(actions):
            gc.collect()
            begin = clock()
            action()
            times[k] = min(times[k], clock() - begin)
    return times


def table_of(title: str, results: list[Result], caption: str) -> Table:
    table = Table(title, ["what", "time", "against", "ratio", "limit", ""], caption=caption)
    for r in results:
        cells = f"{r.numerator:.1f} {r.unit}", f"{r.denominator:.1f} {r.unit}", f"{r.ratio:.2f}", f"{r.limit:g}"
        table.add(r.what, *cells, "PASS" if r.passed else "FAIL")
    return table
