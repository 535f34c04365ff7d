"""Other ways to initialize, for comparison: LSUV and the classical schemes.

    autoinit.baselines.lsuv(model, batch)
    autoinit.baselines.classical(model, "he_normal", seed=0)

The framework is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {"SCHEMES": "classical", "classical": "classical", "lsuv": "lsuv"}

__all__ = ["SCHEMES", "classical", "lsuv"]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{_WHERE[name]}", __name__)
    for known, home in _WHERE.items():  # the function, not the submodule of the same name
        if home == _WHERE[name]:
            globals()[known] = getattr(module, known)
    return globals()[name]
