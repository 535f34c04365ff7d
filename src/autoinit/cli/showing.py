"""What the commands print and write: tables as wide as the terminal and in its colours, JSON, pages, figures."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

import typer

from ..core.files import replace_text
from ..measurement import Measurement
from ..names import shown
from ..plans import Plan
from ..report.data import is_problem, rows_of
from ..report.terminal import coloured
from ..report.text import measurement_table, table
from .settings import FailOn
from .speaking import BAD_SIGNAL, told, width

STANDARD_OUTPUT = Path("-")
Data = Callable[[], dict[str, Any]]
"""Makes what is written as JSON, if it is."""


class Output:
    """Where the answer of a command goes: as a table, or as JSON, which then is alone on standard output."""

    def __init__(self, json_file: Path | None) -> None:
        self.stdout, self.json_file = sys.stdout, json_file

    @property
    def is_data(self) -> bool:
        return self.json_file == STANDARD_OUTPUT

    def answer(self, text: str, data: Data) -> None:
        """Text for people, and the data where they were asked for."""
        if not self.is_data:
            typer.echo(text)
        self._as_json(data)

    def table(self, made: Plan | Measurement, data: Data) -> None:
        """A table of weight layers, in colour where that is wanted."""
        if self.is_data or not in_colour():
            self.answer(text_of(made), data)
            return
        from rich.console import Console

        Console().print(coloured(made, width()), soft_wrap=True)
        self._as_json(data)

    def files(self, made: Plan | Measurement, html: Path | None, plot: Path | None, now: Plan | None = None) -> None:
        """The page and the figure; `now` is what the weights that the model has would do, for comparison."""
        if html is not None:
            made.to_html(html, default=now)
            self.written("page", html)
        if plot is not None:
            made.plot(plot, compare=None if now is None else {"as it is now": now})
            self.written("figure", plot)

    def _as_json(self, data: Data) -> None:
        if self.json_file is None:
            return
        text = json.dumps(data(), indent=1, allow_nan=False) + "\n"
        if self.is_data:
            self.stdout.write(text)
        else:
            replace_text(self.json_file, text)
            self.written("JSON", self.json_file)

    def written(self, what: str, path: Path) -> None:
        typer.echo(f"{what} written to {shown(str(path))}")


@contextmanager
def answering(json_file: Path | None = None, debug: bool = False) -> Iterator[Output]:
    """Errors are told; while JSON is the answer, what anybody else prints goes to standard error."""
    output = Output(json_file)
    with told(debug):
        if output.is_data:
            with redirect_stdout(sys.stderr):
                yield output
        else:
            yield output


def in_colour() -> bool:
    """Standard output is a terminal, and nobody asked for none (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def text_of(made: Plan | Measurement) -> str:
    return measurement_table(made, width()) if isinstance(made, Measurement) else table(made, width())


def judge(made: Plan | Measurement, fail_on: FailOn) -> None:
    """Exit with 1 if a verdict is as bad as the user said."""
    if fail_on is FailOn.never:
        return
    words = [row.verdict for row in rows_of(made)]
    bad = [word for word in words if is_bad(word, fail_on)]
    if bad:
        typer.echo(f"autoinit: {len(bad)} of {len(words)} weight layers are {bad[0]}", err=True)
        raise typer.Exit(BAD_SIGNAL)


def is_bad(word: str, fail_on: FailOn) -> bool:
    return is_problem(word) or (fail_on is FailOn.warn and word in ("low", "high"))
