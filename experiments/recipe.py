"""AutoInit's recipe for training, a further row beside AutoInit as the paper has it: how the two are compared."""

from __future__ import annotations

from collections.abc import Mapping

from .claim import NO, PARTLY, YES, Finding
from .tables import percent

TRAINED = "autoinit-train"
"""Its name in `autoinit.baselines`."""
MARGIN = 0.01
"""Accuracies that are no further apart count as equal."""


def compared(accuracies: Mapping[str, tuple[float, float]]) -> Finding:
    """By place: the accuracy without the recipe and with it. Partly: higher at more places than it is lower."""
    higher = sum(b - a > MARGIN for a, b in accuracies.values())
    lower = sum(a - b > MARGIN for a, b in accuracies.values())
    shown = ", ".join(f"{place} {_shown(a)} / {_shown(b)}" for place, (a, b) in accuracies.items())
    text = f"{shown} (without / with the recipe): higher by more than a point in {higher} of {len(accuracies)}"
    return Finding(f"{text}, lower in {lower}", YES if not lower else PARTLY if higher > lower else NO)


def _shown(accuracy: float) -> str:
    """Most runs diverged where there is none."""
    return percent(accuracy) if accuracy else "-"
