"""The folders of runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .. import history
from ..problems import TaskError
from .course import Course


def folders_in(places: Iterable[Path | str]) -> list[Path]:
    """Each place is the folder of a run, or has such folders somewhere below it."""
    found: list[Path] = []
    for place in map(Path, places):
        below = [place] if (place / history.HISTORY).is_file() else sorted(
            path.parent for path in place.rglob(history.HISTORY)
        )  # fmt: skip
        if not below:
            raise TaskError("there is no search here, or its first generation has not ended", where=str(place),
                            received=f"no {history.HISTORY} in it or below",
                            fix="python -m autoinit.labs.codeepneat run FOLDER --task ...")  # fmt: skip
        found += below
    return list(dict.fromkeys(path.resolve() for path in found))


def courses(places: Iterable[Path | str]) -> list[Course]:
    """The courses of all runs in these places."""
    return [Course.read(folder) for folder in folders_in(places)]
