"""The command of the distribution autoinit-nn.

It stands beside the package, so that it can tell when the module `autoinit` is not ours: a distribution called
`autoinit` on the package index is an unrelated one, and may have taken the place.
"""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    """The command `autoinit`, or one line about whose module has its name."""
    place = stranger()
    if place is not None:
        print(f"autoinit: the module autoinit ({place}) is that of another package: "
              "pip uninstall autoinit autoinit-nn, then pip install autoinit-nn", file=sys.stderr)  # fmt: skip
        sys.exit(3)
    importlib.import_module("autoinit.cli").main()


def stranger() -> str | None:
    """Where the module `autoinit` comes from if it is not ours, else None."""
    try:
        found = importlib.import_module("autoinit")
    except ModuleNotFoundError as error:
        if error.name == "autoinit":
            return "missing"
        raise
    return None if getattr(found, "__distribution__", "") == "autoinit-nn" else str(found.__file__)
