"""Additive masks: which entries of an array say "never attend here"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

DEAD = -1e4
"""A value at or below this switches an entry off for the softmax that follows."""

FAINT = -20.0
"""So does a smaller one, if an array holds nothing but it and zeros (exp(-20) is 2e-9)."""


def dead_entries(values: NDArray[Any]) -> NDArray[np.bool_]:
    """True where an additive mask switches an entry off."""
    lowest = float(values.min()) if values.size else 0.0
    if DEAD < lowest <= FAINT and bool(np.all((values == 0.0) | (values == lowest))):
        return np.asarray(values == lowest)
    return np.asarray(values <= DEAD)
