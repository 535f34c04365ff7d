"""Install data sets, check their files and print what is in them: `python -m autoinit.labs.data cifar10`.

Without a name it lists what there is.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ...errors import AutoInitError, OptionError
from . import cache, checksums
from .catalogue import CATALOGUE
from .listing import listing
from .loading import load
from .sets import SETS
from .summaries import summary


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m autoinit.labs.data", description=__doc__)
    parser.add_argument("name", nargs="*", metavar="name", help=f"one of {', '.join(SETS)}; none lists them")
    parser.add_argument("--directory", help="where the original files lie (default $AUTOINIT_DATA, then the cache)")
    parser.add_argument("--validation", type=int, help="images that are taken out of the training part")
    parser.add_argument("--seed", type=int, default=0, help="which examples are in which part")
    given = parser.parse_args(arguments)
    if not given.name:
        print(listing())
    for name in given.name:
        try:
            print(summary(_loaded(name, given.directory, given.validation, given.seed)))
        except (AutoInitError, ImportError) as error:
            print(error, file=sys.stderr)
            return 1
        folder = cache.root() / name
        if given.directory is None and name in checksums.FILES and folder.is_dir():
            wrong = damaged(name, folder)
            print(f"  files      {folder}, {'not ' if wrong else ''}the originals (SHA-256)")
            if wrong:
                print(f"damaged: {', '.join(map(str, wrong))}\n  to fix:   remove {folder}", file=sys.stderr)
                return 1
    return 0


def _loaded(name: str, directory: str | None, validation: int | None, seed: int) -> Any:
    if name not in SETS:
        raise OptionError("unknown data set", where="name", received=repr(name), fix=f"one of {', '.join(SETS)}")
    if validation is not None:
        if name not in CATALOGUE:
            raise OptionError(f"'{name}' is no set of images", where="--validation", received=validation,
                              fix="leave it out")  # fmt: skip
        return load(name, directory, validation, seed)
    return SETS[name].load(None if directory is None else Path(directory), seed)


def damaged(name: str, folder: Path) -> list[Path]:
    """The installed files that are not the original ones any more."""
    known = checksums.FILES[name]
    files = sorted(path for path in folder.rglob("*") if path.name in known)
    return [path for path in files if checksums.of_file(path) != known[path.name]]


if __name__ == "__main__":
    sys.exit(main())
