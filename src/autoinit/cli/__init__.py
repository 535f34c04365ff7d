"""The command `autoinit`."""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich", "click"):
            raise
        print(f"autoinit: the command line needs {error.name}: pip install 'autoinit-nn[cli]'", file=sys.stderr)
        sys.exit(3)
    app()
