"""How far the run is: a bar in a terminal, one line per model elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any


class Progress:
    """Counts what has finished and shows it. Use as a context."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.begin = time.monotonic()
        self.running: list[str] = []
        self.outcomes: Counter[str] = Counter()
        self.layers: Counter[str] = Counter()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            try:
                self._make_bar()
            except ImportError:
                self.bar = None
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def started(self, name: str) -> None:
        self.running.append(name)
        self._refresh()

    def finished(self, record: dict[str, Any]) -> None:
        if record["name"] in self.running:
            self.running.remove(record["name"])
        self.outcomes[record["outcome"]] += 1
        self.layers.update(record.get("fidelity", {}).get("layers", {"n": 0}) | {"median": 0})
        if self.bar is None:
            done = sum(self.outcomes.values())
            spent = time.monotonic() - self.begin
            left = spent / done * (self.total - done)
            line = f"[{done}/{self.total}] {described(record)} ({spent:.0f} s so far, about {left:.0f} s left)"
            print(line, file=sys.stderr, flush=True)
        self._refresh(advance=1)

    def totals(self) -> str:
        words = [f"{count} {what}" for what, count in self.outcomes.most_common()]
        if self.layers["n"]:
            share = [100 * self.layers[f] / self.layers["n"] for f in ("1.25", "2")]
            words.append(f"{self.layers['n']} layers: {share[0]:.1f} % ≤1.25×, {share[1]:.1f} % ≤2×")
        return ", ".join(words)

    def _make_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.bar = Bar(*columns, TextColumn("{task.description}"), console=Console(stderr=True))
        self.task = self.bar.add_task("", total=self.total)
        self.bar.start()

    def _refresh(self, advance: int = 0) -> None:
        if self.bar is not None:
            text = f"{', '.join(self.running)}\n{self.totals()}"
            self.bar.update(self.task, advance=advance, description=text)


def described(record: dict[str, Any]) -> str:
    """One line about a record."""
    text = f"{record['name']}: {record['outcome']}"
    if "fidelity" in record:
        layers = record["fidelity"]["layers"]
        text += f", {layers['n']} layers, {layers['1.25']} ≤1.25×, {layers['2']} ≤2×"
    elif "error" in record:
        text += f": {record['error'].splitlines()[0][:150]}"
    return f"{text}, {record.get('seconds', 0):.1f} s"
