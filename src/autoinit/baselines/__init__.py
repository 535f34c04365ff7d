"""Other ways to initialize, for comparison: LSUV and the classical schemes; and all of them, and AutoInit's, by name.

    autoinit.baselines.lsuv(model, batch)
    autoinit.baselines.classical(model, "he_normal", seed=0)
    autoinit.baselines.initialize(model, batch, "autoinit-paper", seed=0)

The framework is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "NAMES": "by_name",
    "SCHEMES": "schemes",
    "classical": "schemes",
    "initialize": "by_name",
    "lsuv": "layer_sequential",
}

__all__ = ["NAMES", "SCHEMES", "classical", "initialize", "lsuv"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
