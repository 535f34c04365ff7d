"""Files that are replaced as a whole: whoever reads sees the old one or the new one, never half of it.

The new content is written beside the old file, brought to the disk, and renamed over it. If anything goes wrong (a
full disk, an interrupt) the old file is what it was, and nothing is left beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A binary file to write the new content of `path` to; it takes the place of the old one at the end.

    A symbolic link stays one: what it points to is replaced. Permissions stay as they are. Devices and pipes
    (``/dev/stdout``) are written to directly.
    """
    if _is_stream(path):
        with open(path, "wb") as stream:
            yield stream
        return
    with replacing_path(path) as beside, open(beside, "wb") as file:
        yield file


@contextmanager
def replacing_path(path: PathLike) -> Iterator[Path]:
    """The same for a writer that takes a name and no open file: a fresh file in the same folder, of the same ending."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{secrets.token_hex(8)}{''.join(target.suffixes)[-40:]}")
    try:
        _create(beside, target)
        yield beside
        _to_disk(beside, os.O_RDWR)
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    with suppress(OSError):  # the name, too; not every system lets a folder be opened
        _to_disk(target.parent, os.O_RDONLY)


def replace_text(path: PathLike, text: str) -> None:
    """All of the new text (UTF-8), or the old one."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def save_figure(figure: Any, path: PathLike) -> None:
    """A matplotlib figure as a file, in the form that its ending names (PNG if it has none, as `savefig`).

    An open file, or anything else with `write`, is written to.
    """
    if hasattr(path, "write"):
        figure.savefig(path)
        return
    if not Path(path).suffix[1:]:
        path = f"{os.fspath(path)}.png"
    with replacing(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:])


def _is_stream(path: PathLike) -> bool:
    """Something that exists and is neither a file nor a folder."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _create(beside: Path, target: Path) -> None:
    """An empty file with the permissions of the one that it will replace, or those of any new file."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a folder cannot be replaced by a file", str(target))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected", str(target))
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    if target.exists():
        with suppress(OSError):
            os.chmod(beside, stat.S_IMODE(target.stat().st_mode))


def _to_disk(path: Path, how: int) -> None:
    descriptor = os.open(path, how)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
