"""What a worker process does with a name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..zoos.account import Settings

FLAGS = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
"""Every op runs a few times at most: compiling it must not take long."""


def prepare() -> None:
    """Import what every model needs, before any clock runs."""
    os.environ.setdefault("XLA_FLAGS", FLAGS)
    from .install import activate

    activate()
    import equinox  # noqa: F401
    import flax  # noqa: F401
    import haiku  # noqa: F401

    from . import study  # noqa: F401


def work(name: str, report: Callable[[dict[str, Any]], None], settings: Settings, verbose: bool) -> dict[str, Any]:
    from .catalogue import find
    from .study import study

    return study(find(name), settings, report, verbose)
