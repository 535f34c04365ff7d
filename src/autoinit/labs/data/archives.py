"""Single files out of tar archives, read into memory: nothing is ever written where an archive wants it."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from .problems import DataError

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
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"the archive cannot be read: {error}", where=str(archive),
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip
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
