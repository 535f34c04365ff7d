"""Starting the commands of labs, which need more than the library does."""

from __future__ import annotations

import sys
from importlib import import_module

EXTRA = ("typer", "click", "rich", "torch", "matplotlib", "PIL")
"""Modules that the extra `labs` brings."""


def start(lab: str) -> None:
    """Run the command of a lab, or say in one line what it lacks."""
    try:
        command = import_module(f"{lab}.command")
    except ModuleNotFoundError as error:
        if error.name not in EXTRA:
            raise
        print(f"{lab} needs {error.name}: pip install 'autoinit-nn[labs]'", file=sys.stderr)
        sys.exit(2)
    command.app(prog_name=f"python -m {lab}")
