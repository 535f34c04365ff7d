"""The command `autoinit`."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "click"):
            raise
        sys.exit(f"autoinit: the command line needs {error.name}: pip install 'autoinit[cli]'")
    app()
