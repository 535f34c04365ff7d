"""The work function: finding it by its name, and calling it so that whatever happens becomes an outcome."""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from ..encoding import normalised
from ..errors import WorkError
from ..jobs import Job, Outcome
from ..memory import peak_bytes, reset_peak

Work = Callable[[dict[str, Any]], Mapping[str, Any]]

LINES = 12
"""How many of the last lines of a traceback are kept."""

EXHAUSTED = ("can't allocate memory", "out of memory", "RESOURCE_EXHAUSTED", "std::bad_alloc")
"""What frameworks say when memory is short, in exceptions of their own."""

FIX = "pass work='package.module:function', the name of a function that workers can import"


def check_name(work: str) -> None:
    """Refuse what cannot name a function, before anything is imported."""
    module, _, name = work.partition(":") if isinstance(work, str) else ("", "", "")
    if not module or not all(part.isidentifier() for part in f"{module}.{name}".split(".")):
        raise WorkError("'work' is not the name of a function", received=repr(work), fix=FIX)
    if module == "__main__":
        raise WorkError("workers cannot import the main script", received=repr(work), fix=FIX)


def load(work: str) -> Work:
    module, _, name = work.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise WorkError("the work function cannot be imported", where=work, received=_last(error), fix=FIX) from error
    if not callable(found):
        raise WorkError("the name does not belong to a function", where=work, received=type(found).__name__, fix=FIX)
    function: Work = found
    return function


def perform(function: Work, job: Job) -> Outcome:
    """Call the function; its value as JSON keeps it, or what went wrong."""
    measured = reset_peak()
    begin = time.perf_counter()
    status, value, message = "done", None, ""
    try:
        returned: Any = function(normalised(job.payload))
        if isinstance(returned, Mapping):
            value = normalised(returned)
        else:
            status, message = "error", f"the work function returned a {type(returned).__name__}, not a dict"
    except KeyboardInterrupt:
        raise
    except (Exception, SystemExit) as error:
        short = isinstance(error, MemoryError) or any(text in str(error) for text in EXHAUSTED)
        status, message = "memory" if short else "error", _last(error)
    seconds = time.perf_counter() - begin
    return Outcome(job.key, status, value, seconds, peak_bytes() if measured else None, message)


def _last(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error)).rstrip().splitlines()
    return without_folders("\n".join(text[-LINES:]))


def without_folders(text: str) -> str:
    """Paths of files begin with their package: the same on every machine, and shorter."""
    for folder in sorted(map(os.path.abspath, sys.path), key=len, reverse=True):
        text = text.replace(f'"{folder}{os.sep}', '"')
    return text
