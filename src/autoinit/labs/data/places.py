"""Where in a directory the files of a data set may lie, and what reading them gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .images import Split


@dataclass(frozen=True)
class Found:
    """A data set as its files have it; `validation` is None where it is taken out of the training part."""

    train: Split
    test: Split
    class_names: tuple[str, ...]
    validation: Split | None = None


def places(directory: Path, *folders: str) -> Iterator[Path]:
    """The usual folders below, then the directory itself: those that exist."""
    for place in (*(directory / folder for folder in folders), directory):
        if place.is_dir():
            yield place


def exists(place: Path, names: Iterable[str]) -> bool:
    """Whether any of these files is here: then all of them should be."""
    return any((place / name).is_file() for name in names)


def one_of(directory: Path, *patterns: str) -> Path | None:
    """The first file that fits; a path that is such a file itself counts."""
    for pattern in patterns:
        if directory.is_file() and directory.match(pattern):
            return directory
        if matching := sorted(path for path in directory.glob(pattern) if path.is_file()):
            return matching[0]
    return None
