"""The tables in colour, as wide as the terminal, with rich."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from ..core.plan.measured import MeasurementData, Result
from .layout import WIDTH
from .text import measurement_table, table

if TYPE_CHECKING:
    from rich.text import Text

VERDICTS = {
    "ok": "green",
    "low": "yellow",
    "high": "yellow",
    "vanishing": "bold red",
    "exploding": "bold red",
    "invalid": "bold red",
    "zero": "dim",
    "shared": "dim",
}
FIRST_WORDS = {"first problem": "bold red", "warning": "bold yellow", "simulated": "yellow", "passed": "yellow"}


def show(item: Result) -> None:
    """Print; in a terminal with rich installed in colour and as wide as the window, otherwise as plain text."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
        except ImportError:
            pass
        else:
            console = Console()
            console.print(coloured(item, console.width))
            return
    print(_text(item))


def coloured(item: Result, width: int) -> Text:
    """The table for a console of that width."""
    from rich.text import Text

    lines = _text(item, min(width, WIDTH)).splitlines()
    rule = next(k for k, line in enumerate(lines) if line.startswith("─"))
    end = next((k for k in range(rule, len(lines)) if not lines[k]), len(lines))
    made = Text(no_wrap=True, overflow="ellipsis")
    for k, line in enumerate(lines):
        made.append_text(_line(line, k - rule) if k < end else Text(line))
        made.append("" if line is lines[-1] and k == len(lines) - 1 else "\n")
    return made


def _text(item: Result, width: int = WIDTH) -> str:
    return measurement_table(item, width) if isinstance(item, MeasurementData) else table(item, width)


def _line(line: str, below: int) -> Text:
    """One line, `below` the rule under the heads by so many lines."""
    from rich.text import Text

    made = Text(line)
    if below in (-1, 0):
        made.stylize("bold" if below else "dim")
    elif below > 0 and re.search(r": as \S+ \(", line):
        made.stylize("dim italic")
    elif below > 0:
        word = line.rsplit(" ", 1)[-1]
        if word in VERDICTS:
            made.stylize(VERDICTS[word], len(line) - len(word))
    for words, style in FIRST_WORDS.items():
        if below < -1 and line.startswith(f"{words}: "):
            made.stylize(style, 0, len(words) + 1)
    return made
