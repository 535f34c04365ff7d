"""Tar archives that are not trusted: named files are read into memory, whole archives unpacked into one folder only."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from .problems import DataError

BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error)
LARGEST = 200_000_000
"""Bytes; no file that is read this way comes near."""


def members(archive: Path, names: Iterable[str]) -> dict[str, bytes]:
    """The contents of the files with these last path components, in one pass."""
    missing, found = set(names), {}
    try:
        with tarfile.open(archive) as tar:
            for entry in tar:
                name = PurePosixPath(entry.name).name
                if name not in missing:
                    continue
                found[name] = _content(tar, entry, archive)
                missing.remove(name)
                if not missing:
                    break
    except BROKEN as error:
        raise _damaged(archive, error) from error
    if missing:
        raise DataError("files are missing in the archive", where=str(archive), received=", ".join(sorted(missing)),
                        fix="fetch it again, or another edition of it")  # fmt: skip
    return found


def _content(tar: tarfile.TarFile, entry: tarfile.TarInfo, archive: Path) -> bytes:
    if not entry.isreg():
        raise DataError("a data file in the archive is a link or a device", where=str(archive), received=entry.name,
                        fix="do not trust this archive; fetch the original")  # fmt: skip
    if entry.size > LARGEST:
        raise DataError(f"a data file of more than {LARGEST:,} bytes", where=str(archive),
                        received=f"{entry.name}: {entry.size:,} bytes",
                        fix="do not trust this archive; fetch the original")  # fmt: skip
    stream = tar.extractfile(entry)
    assert stream is not None  # a regular file has contents
    return stream.read()


def unpacked(archive: Path, into: Path) -> None:
    """Everything in the archive, below `into`; links and paths that lead out of it are refused."""
    if not hasattr(tarfile, "data_filter"):
        raise DataError("this Python cannot unpack archives safely", where=str(archive),
                        fix="unpack it by hand and name the folder, or update Python")  # fmt: skip
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(into, filter="data")
    except tarfile.FilterError as error:
        raise DataError(f"the archive wants to write outside its folder: {error}", where=str(archive),
                        fix="do not trust this archive; fetch the original") from error  # fmt: skip
    except BROKEN as error:
        raise _damaged(archive, error) from error


def _damaged(archive: Path, error: BaseException) -> DataError:
    return DataError(f"the archive cannot be read: {error}", where=str(archive),
                     fix="fetch it again: it is damaged or not complete")  # fmt: skip
