"""Zip archives that are not trusted (wheels among them): files are read into memory, nothing is unpacked or run."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from .archives import LARGEST
from .problems import DataError

BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError)
"""The last two: a way of packing that Python does not know, and a password."""


@contextmanager
def opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; whatever is wrong with it while it is open becomes a DataError with its name."""
    try:
        with zipfile.ZipFile(archive) as file:
            yield file
    except DataError:
        raise
    except BROKEN as error:
        raise DataError(f"the archive cannot be read: {error}", where=str(archive),
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip


def content(file: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """One file; its checksum in the archive is compared by reading it."""
    if entry.file_size > LARGEST:
        raise DataError(f"a data file of more than {LARGEST:,} bytes", where=str(file.filename),
                        received=f"{entry.filename}: {entry.file_size:,} bytes",
                        fix="do not trust this archive; fetch the original")  # fmt: skip
    return file.read(entry)


def zip_members(archive: Path, names: Iterable[str]) -> dict[str, bytes]:
    """The contents of the files with these last path components."""
    missing, found = set(names), {}
    with opened(archive) as file:
        for entry in file.infolist():
            name = PurePosixPath(entry.filename).name
            if name in missing:
                found[name] = content(file, entry)
                missing.remove(name)
    if missing:
        raise DataError("files are missing in the archive", where=str(archive), received=", ".join(sorted(missing)),
                        fix="fetch it again, or another edition of it")  # fmt: skip
    return found
