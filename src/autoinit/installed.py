"""Whether a namesake is installed: `autoinit` of the package index is an unrelated package with a module of that name.

Only names of files beside this package are looked at, and the file list of a namesake if there is one: importing
stays cheap. Where the namesake wins, nothing of this runs: that case is for the command (`autoinit_nn`).
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from .errors import AutoInitWarning

PREFIX, SUFFIX = "autoinit-", ".dist-info"
"""Of the folder in which a distribution called `autoinit` keeps its metadata; ours begins with ``autoinit_nn-``."""


def warn_of_namesake() -> None:
    """One warning, where `autoinit` is imported, if another distribution claims this name in the same folder."""
    name = namesake(Path(__file__).parent.parent)
    if name:
        warnings.warn(
            f"{name} is installed, too: another package, whose module has the same name, so one of them is broken. "
            "Keep one of them in an environment: pip uninstall autoinit autoinit-nn; pip install autoinit-nn",
            AutoInitWarning, stacklevel=3,
        )  # fmt: skip


def namesake(folder: Path) -> str:
    """Name and version of a distribution `autoinit` that put a module `autoinit` into this folder; "" if none did."""
    try:
        found = [name for name in os.listdir(folder) if name.startswith(PREFIX) and name.endswith(SUFFIX)]
        for name in found:
            record = (folder / name / "RECORD").read_text(encoding="utf-8", errors="replace")
            if any(line.startswith(("autoinit/", "autoinit.py,")) for line in record.splitlines()):
                return f"autoinit {name[len(PREFIX) : -len(SUFFIX)]}"
    except OSError:  # a zip file, or no rights: then there is nothing to say
        pass
    return ""
