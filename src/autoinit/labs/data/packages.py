"""Fetch a package with the user's own package manager and configuration; it is downloaded, never installed or run."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import checksums
from .problems import DataError

PATIENCE = 1800
"""Seconds."""


def npm(package: str, into: Path, fix: str) -> Path:
    """The archive of an npm package ("name@version"), its checksum compared with the one on record."""
    _run(["npm", "pack", package, "--ignore-scripts", "--loglevel=error"], into, fix)
    return _on_record(_only(into, "*.tgz", package, fix), package, f"npm pack {package}", fix)


def pypi(package: str, into: Path, fix: str) -> Path:
    """The wheel of a Python package ("name==version"), its checksum compared with the one on record.

    It comes by the pip of this Python, or by the command pip where this Python has none.
    """
    pip = [sys.executable, "-m", "pip"] if importlib.util.find_spec("pip") else ["pip"]
    _run([*pip, "download", "--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check", package],
         into, fix)  # fmt: skip
    return _on_record(_only(into, "*.whl", package, fix), package, f"pip download {package}", fix)


def _on_record(archive: Path, package: str, where: str, fix: str) -> Path:
    if (received := checksums.of_file(archive)) != checksums.PACKAGES[package]:
        raise DataError(f"the package is not the one on record (SHA-256 {checksums.PACKAGES[package]})", where=where,
                        received=received, fix=fix)  # fmt: skip
    return archive


def debian(package: str, into: Path, fix: str) -> Path:
    """The files of a Debian package as one tar archive. Releases differ in packing, so the files are checked later."""
    _run(["apt-get", "download", package], into, fix)
    archive = _only(into, "*.deb", package, fix)
    files = archive.with_suffix(".tar")
    files.write_bytes(_run(["dpkg-deb", "--fsys-tarfile", str(archive)], into, fix))
    return files


def _only(folder: Path, pattern: str, package: str, fix: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise DataError("the package manager reported success, but there is not one package", where=package,
                        received=f"{len(found)} files {pattern}", fix=fix)  # fmt: skip
    return found[0]


def _run(command: list[str], folder: Path, fix: str) -> bytes:
    """What the command prints; an error with its first words if it fails."""
    where = " ".join(command[:3])
    program = shutil.which(command[0])
    if program is None:
        raise DataError(f"the command '{command[0]}' is not installed", where=where, fix=fix)
    try:
        done = subprocess.run([program, *command[1:]], cwd=folder, capture_output=True, timeout=PATIENCE,
                              stdin=subprocess.DEVNULL)  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise DataError(f"the command did not end within {PATIENCE} s", where=where, fix=fix) from error
    if done.returncode:
        words = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()[:4]
        raise DataError(f"the command failed (exit code {done.returncode}): is the network off?", where=where,
                        received="\n".join(words) or None, fix=fix)  # fmt: skip
    return done.stdout


def report(line: str) -> None:
    """Progress goes to the error stream: the output stream belongs to the program."""
    print(line, file=sys.stderr, flush=True)


def workshop(beside: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder for the package, on the same disk as what it becomes."""
    return tempfile.TemporaryDirectory(prefix="package-", dir=beside)
