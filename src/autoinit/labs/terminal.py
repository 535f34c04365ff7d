"""What the commands of labs and experiments share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..errors import AutoInitError


@contextmanager
def errors_told() -> Iterator[None]:
    """An error of the library is for the person at the terminal: its text, and exit code 2."""
    try:
        yield
    except AutoInitError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
