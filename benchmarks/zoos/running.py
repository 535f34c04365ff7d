"""What a worker process does with a name, and whether it has to."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .account import Settings, is_done
from .catalogue import find
from .study import study

__all__ = ["is_done", "prepare", "work"]


def prepare(jobs: int) -> None:
    """Import what every model needs, before any clock runs."""
    import torch

    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    if jobs > 1:
        torch.set_num_threads(1)
    import timm  # noqa: F401


def work(name: str, report: Callable[[dict[str, Any]], None], settings: Settings, verbose: bool) -> dict[str, Any]:
    return study(find(name), settings, report, verbose)
