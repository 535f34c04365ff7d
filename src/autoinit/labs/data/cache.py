"""A directory of installed data sets: each appears there whole or not at all, once, however many processes want it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .problems import DataError


def root() -> Path:
    """$AUTOINIT_CACHE, or autoinit/data in the user's cache directory."""
    if chosen := os.environ.get("AUTOINIT_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "autoinit" / "data"


def installed(name: str, install: Callable[[Path], None], below: str = "") -> Path:
    """The folder of a data set; `install` fills a fresh one if it is not there. `below`: a folder for many of a kind.

    It is filled under another name and renamed when it is complete, so that a failure or a kill leaves nothing
    that looks like a data set.
    """
    target = root() / below / name
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.parent / f".{name}.lock", name):
            if target.is_dir():  # somebody else was faster
                return target
            for abandoned in target.parent.glob(f".{name}.part-*"):  # of a process that was killed: the lock is ours
                shutil.rmtree(abandoned, ignore_errors=True)
            fresh = Path(tempfile.mkdtemp(prefix=f".{name}.part-", dir=target.parent))
            try:
                install(fresh)
                fresh.chmod(0o755)
                fresh.rename(target)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise DataError(f"the data set cannot be written: {error}", where=str(target),
                        fix="set AUTOINIT_CACHE to a writable directory with space") from error  # fmt: skip
    return target


@contextmanager
def _alone(path: Path, name: str) -> Iterator[None]:
    """Hold a lock that the operating system drops when this process ends in any way."""
    with path.open("a+b") as file:
        if not _take(file, wait=False):
            print(f"{name}: another process is installing it; waiting", file=sys.stderr, flush=True)
            _take(file, wait=True)
        yield


if sys.platform == "win32":
    import msvcrt
    import time

    def _take(file: IO[bytes], wait: bool) -> bool:
        while True:
            try:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
                return True
            except OSError:
                if not wait:
                    return False
                time.sleep(0.5)

else:
    import fcntl

    def _take(file: IO[bytes], wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True
