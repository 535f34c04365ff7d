"""Errors as the command line tells them: in its own words, as wide as the terminal, each kind with its exit code."""

from __future__ import annotations

import ast
import re
import shlex
import sys
import textwrap
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from shutil import get_terminal_size

import typer

from ..core.options import Options
from ..errors import AutoInitError, InputError, OptionError
from ..names import shown
from ..report.layout import WIDTH
from .inputs import EXAMPLES

FINE, BAD_SIGNAL, WRONG_USE, CANNOT, INTERRUPTED = 0, 1, 2, 3, 130
FLAGS = {"training": "--eval", "keep_zeros": "--no-keep-zeros", "inputs": "--input", "Input": "--input"}
"""Where an option of the command line is called otherwise than in Python."""
NAMES = "|".join(sorted({*(field.name for field in fields(Options)), "repeats"}))
LABELS = (("received:", "  received: "), ("to fix:", "  to fix:   "))
NARROWEST = 40


@contextmanager
def told(debug: bool = False) -> Iterator[None]:
    """Whatever goes wrong inside is told to a person (`debug`: below Python's traceback) and ends the program."""
    try:
        yield
    except (typer.Exit, BrokenPipeError):
        raise
    except KeyboardInterrupt:
        typer.echo("autoinit: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (Exception, SystemExit) as error:
        if debug:
            traceback.print_exc()
        typer.echo(spoken(error), err=True)
        raise typer.Exit(exit_code(error)) from None


def exit_code(error: BaseException) -> int:
    """Wrong use is what another command line would mend; all else is the fault of the model, or of a file."""
    return WRONG_USE if isinstance(error, (OptionError, InputError)) else CANNOT


def spoken(error: BaseException) -> str:
    """The lines that are printed."""
    if isinstance(error, AutoInitError):
        return "\n".join(wrapped(line) for line in _in_our_words(error))
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "" if isinstance(error, OSError) or not place else f" ({place[0].filename}, line {place[0].lineno})"
    return wrapped(shown(f"autoinit: {type(error).__name__}: {error}{where}"))


def width() -> int:
    """Columns of the terminal (of a pipe: as many as tables have at most)."""
    return max(NARROWEST, min(WIDTH, get_terminal_size((WIDTH, 24)).columns))


def wrapped(line: str) -> str:
    """A line as several that fit, those that follow indented."""
    indent = next((len(label) for _, label in LABELS if line.startswith(label)), 2)
    return textwrap.fill(line, width(), subsequent_indent=" " * indent, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


def in_our_words(text: str) -> str:
    """Python's ``variance=2`` and 'variance' as ``--variance 2`` and --variance."""
    text = re.sub(rf"(?:option )?'({NAMES})'", lambda m: flag(m[1]), text)
    text = re.sub(rf"\b(?=[a-z]+_)({NAMES})\b(?!=)", lambda m: flag(m[1]), text)
    return re.sub(rf"\b({NAMES})=('[^']*'|\"[^\"]*\"|\{{[^}}]*\}}|[^\s,;)]+)", _assigned, text)


def flag(name: str) -> str:
    return FLAGS.get(name, f"--{name.replace('_', '-')}")


def _assigned(found: re.Match[str]) -> str:
    if found[2] in ("True", "False"):
        return flag(found[1])
    value = found[2].strip(chr(34) + chr(39))
    if value.startswith("{"):
        value = ",".join(f"{pattern}={number}" for pattern, number in ast.literal_eval(value).items())
    return f"{flag(found[1])} {shlex.quote(value)}"


def _in_our_words(error: AutoInitError) -> list[str]:
    """The four parts: where and what, received, how to mend it."""
    first, *rest = str(error).splitlines()
    if isinstance(error, InputError) and error.where != "--input":
        others = [line for line in rest if "to fix:" not in line]
        return [f"autoinit: --input: {error.why}", *others, f"  to fix:   {EXAMPLES}"]
    if isinstance(error, OptionError):
        first = re.sub(r"^(--[a-z-]+): \1 ", r"\1 ", in_our_words(first))
    return [f"autoinit: {first}", *(in_our_words(line) if "to fix:" in line else line for line in rest)]


def warn(text: str) -> None:
    """Something that is no error, beside the output."""
    print(wrapped(f"warning: {shown(text)}"), file=sys.stderr)
