"""What a worker process does with a name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..zoos.account import Settings


def choose_backend(name: str) -> None:
    """Before Keras is imported: which backend it uses, and that all backends keep to one thread."""
    os.environ["KERAS_BACKEND"] = name
    for variable, value in (("TF_CPP_MIN_LOG_LEVEL", "3"), ("CUDA_VISIBLE_DEVICES", ""), ("OMP_NUM_THREADS", "1")):
        os.environ.setdefault(variable, value)


def prepare(backend: str) -> None:
    """Import what every model needs, before any clock runs."""
    choose_backend(backend)
    import keras  # noqa: F401

    from . import study  # noqa: F401


def work(name: str, report: Callable[[dict[str, Any]], None], settings: Settings, verbose: bool) -> dict[str, Any]:
    from .catalogue import find
    from .study import study

    return study(find(name), settings, report, verbose)
