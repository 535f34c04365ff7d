"""Install a data set, check its files and print what is in it: `python -m autoinit.labs.data cifar10`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from ...errors import AutoInitError
from . import cache, checksums
from .images import Images
from .loading import load, names


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m autoinit.labs.data", description=__doc__)
    parser.add_argument("name", nargs="+", metavar="name", help=f"one of {', '.join(names())}")
    parser.add_argument("--directory", help="where the original files lie (default $AUTOINIT_DATA, then the cache)")
    parser.add_argument("--validation", type=int, help="images that are taken out of the training part")
    parser.add_argument("--seed", type=int, default=0, help="which images these are")
    given = parser.parse_args(arguments)
    for name in given.name:
        try:
            print(summary(load(name, given.directory, given.validation, given.seed)))
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


def summary(sets: Images) -> str:
    """A few lines: parts, sizes, classes, statistics."""
    lines = [f"{sets.name}: {sets.classes} classes, {' × '.join(map(str, sets.shape))}"]
    for part in ("train", "validation", "test"):
        split = getattr(sets, part)
        counts = np.bincount(split.labels, minlength=sets.classes)
        lines.append(f"  {part:<10} {len(split):>9,} images, {counts.min():,} to {counts.max():,} of each class")
    for what in ("mean", "std"):
        lines.append(f"  {what:<10} {'  '.join(f'{value:.4f}' for value in getattr(sets, what))}")
    return "\n".join(lines)


def damaged(name: str, folder: Path) -> list[Path]:
    """The installed files that are not the original ones any more."""
    known = checksums.FILES[name]
    files = sorted(path for path in folder.rglob("*") if path.name in known)
    return [path for path in files if checksums.of_file(path) != known[path.name]]


if __name__ == "__main__":
    sys.exit(main())
