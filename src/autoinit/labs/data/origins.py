"""Where a data set comes from: a directory that the user names, a package registry, or nowhere that we can reach."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from . import cache
from .problems import DataError

Result = TypeVar("Result")


@dataclass(frozen=True)
class Origin:
    """`originals`: what to get and where; `put`: what of it goes into a directory; `install(folder, fix)` fills one.

    `package` says in a few words what is fetched; `bundled` data comes with a library and has no files to look for.
    """

    originals: str
    put: str
    install: Callable[[Path, str], None] | None = None
    package: str = ""
    bundled: bool = False

    @property
    def fix(self) -> str:
        """Where to get the original files, and where to put them."""
        return (f"get {self.originals}, put {self.put} into a directory, and name it: directory=… or the environment "
                "variable AUTOINIT_DATA")  # fmt: skip


def found(name: str, origin: Origin, read: Callable[[Path], Result | None], directory: str | Path | None) -> Result:
    """What `read` gives for the named directory, $AUTOINIT_DATA, or the installed package; it gives None for no files.

    A named directory is never replaced by a package.
    """
    if origin.bundled and directory is None:
        result = read(Path())
        assert result is not None  # it comes with a package
        return result
    looked = [_named(directory)] if directory is not None else []
    if directory is None and (everywhere := os.environ.get("AUTOINIT_DATA")):
        looked = [_named(everywhere)]
    for place in looked:
        if (result := read(place)) is not None:
            return result
    if directory is None and origin.install is not None:
        install = origin.install
        looked.append(cache.installed(name, lambda folder: install(folder, origin.fix)))
        if (result := read(looked[-1])) is not None:
            return result
        raise DataError("the installed data set has lost its files", where=str(looked[-1]),
                        fix="remove that folder: it is then installed again")  # fmt: skip
    where = f"data set '{name}'"
    if not looked:
        raise DataError("no package registry carries this data set, and no directory is named", where=where,
                        fix=origin.fix)  # fmt: skip
    raise DataError("there are no files of this data set", where=where, received=str(looked[0]), fix=origin.fix)


def _named(directory: str | Path) -> Path:
    path = Path(directory).expanduser()
    if not path.exists():
        raise DataError("the directory of the data does not exist", where="directory", received=str(path),
                        fix="name the directory that holds the files (argument or AUTOINIT_DATA)")  # fmt: skip
    return path
