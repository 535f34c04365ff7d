"""One training loop for image classification, its recipes, and what a run leaves behind.

Recipes and records are plain data: only `train` and `evaluate` load PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import recipes
from .progress import Moment, bar
from .recipe import Recipe
from .record import Record

if TYPE_CHECKING:
    from .evaluation import evaluate
    from .loop import train

__all__ = ["Moment", "Recipe", "Record", "bar", "evaluate", "recipes", "train"]


def __getattr__(name: str) -> Any:
    if name == "train":
        from .loop import train

        return train
    if name == "evaluate":
        from .evaluation import evaluate

        return evaluate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
