"""A lock file: one writer at a time, and none that outlives its process."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from .errors import JournalError

FAR = 1 << 30
"""The byte that is locked where a lock hides bytes from readers: none that is ever written."""


class Lock:
    """Holds `<path>.lock` until `release`; the system releases it when the process dies, however it dies.

    The file says who holds it. Its content is for people only: the lock itself is what counts, so a file that a
    killed process left behind is no obstacle.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(path.name + ".lock")
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _try_lock(descriptor):
                owner = os.pread(descriptor, 200, 0).decode(errors="replace") if hasattr(os, "pread") else ""
                os.close(descriptor)
                raise JournalError("another run writes to this journal", where=str(path),
                                   received=f"a lock held by {owner.strip() or 'an unknown process'}",
                                   fix="wait for it to end, or name another journal")  # fmt: skip
            if _is_still(descriptor, self.path):
                break
            os.close(descriptor)  # its last owner removed the file just before we had the lock
        self._descriptor: int | None = descriptor
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def release(self) -> None:
        if self._descriptor is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _is_still(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _try_lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return _try_lock_without_fcntl(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_without_fcntl(descriptor: int) -> bool:
    import msvcrt

    windows: Any = msvcrt
    os.lseek(descriptor, FAR, os.SEEK_SET)
    try:
        windows.locking(descriptor, windows.LK_NBLCK, 1)
    except OSError:
        return False
    os.lseek(descriptor, 0, os.SEEK_SET)
    return True
