"""Commands of our own in the place of package managers."""

from __future__ import annotations

import sys
from pathlib import Path


def command(folder: Path, name: str, code: str) -> None:
    """It appends its arguments to <name>.calls, then runs the code."""
    path = folder / name
    calls = f"open({str(path) + '.calls'!r}, 'a').write(' '.join(sys.argv[1:]) + '\\n')"
    path.write_text(f"#!{sys.executable} -IS\nimport shutil, sys\n{calls}\n{code}\n")
    path.chmod(0o755)


def calls(folder: Path, name: str) -> list[str]:
    path = folder / f"{name}.calls"
    return path.read_text().splitlines() if path.exists() else []


def hidden(folder: Path) -> list[str]:
    """What is left of installing but the lock."""
    return [path.name for path in folder.glob(".*") if not path.name.endswith(".lock")]
