"""Other ways to initialize, for comparison: LSUV and the classical schemes.

    autoinit.baselines.lsuv(model, batch)
    autoinit.baselines.classical(model, "he_normal", seed=0)

The framework is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {"SCHEMES": "schemes", "classical": "schemes", "lsuv": "layer_sequential"}

__all__ = ["SCHEMES", "classical", "lsuv"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
