"""Environments of one's own: empty, with chosen distributions of this one, and with what is to be tried."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Environment:
    """A virtual environment without pip."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        return next((self.folder / "lib").glob("python*/site-packages"))

    def install(self, *files: Path) -> None:
        """Install built distributions, and nothing that they need."""
        command = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--no-index", "--no-deps",
                   "--no-build-isolation", "--quiet"]  # fmt: skip
        subprocess.run([*command, *map(str, files)], check=True, env=outside())

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command of the environment, in its folder."""
        command = [str(self.folder / "bin" / words[0]), *words[1:]]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env={**outside(), **variables})

    def script(self, code: str, **variables: str) -> str:
        """What a script prints; it must succeed, and must not warn."""
        found = self.run("python", "-W", "error::UserWarning:autoinit", "-c", code, **variables)
        assert found.returncode == 0, found.stderr
        return found.stdout

    def last_line(self, code: str, **variables: str) -> str:
        """The last line of the traceback of a script that fails."""
        found = self.run("python", "-c", code, **variables)
        assert found.returncode == 1, found.stdout
        return found.stderr.strip().splitlines()[-1]


def new_environment(folder: Path, *names: str) -> Environment:
    """An environment with the named distributions, as they are installed here, and all that they need."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    made = Environment(folder)
    for found in closure(names):
        for part in sorted({file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}):
            place = made.packages / part
            if not place.exists():
                place.symlink_to(Path(str(found.locate_file(part))))
    return made


def closure(names: Iterable[str]) -> list[Distribution]:
    """Distributions and what they need, as far as it is installed."""
    found: dict[str, Distribution] = {}
    pending = list(names)
    while pending:
        name = canonicalize_name(pending.pop())
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        needed = map(Requirement, found[name].requires or ())
        pending += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return list(found.values())


def namesake(folder: Path, files: dict[str, str]) -> Path:
    """A wheel of a distribution called `autoinit` that is somebody else's."""
    info = "autoinit-9.9.dist-info"
    contents = {
        **files,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: autoinit\nVersion: 9.9\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: by hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*contents, f"{info}/RECORD"])
    path = folder / "autoinit-9.9-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in {**contents, f"{info}/RECORD": record}.items():
            file.writestr(name, text)
    return path


def outside() -> dict[str, str]:
    """The variables of this process, without those that lead Python to the source."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "KERAS_BACKEND")}
