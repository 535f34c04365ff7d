"""How E[x²] varies along an axis: one array of mean 1 per axis, or None where it does not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Profiles = tuple[Array | None, ...]


def profile_of(level: Array) -> Array | None:
    """Of a level per place; None where all are alike."""
    mean = float(level.mean())
    return level / mean if np.ptp(level) > 1e-9 * mean else None


def bent_profiles(K: Array, profiles: Profiles, slope: float) -> tuple[Array, Profiles]:
    """Position profiles through an elementwise function with E f^2 ~ var^slope near the working point.

    E[f^2] at a place with profile p is E[f^2] p^slope, so the mean over places changes by mean(p^slope).
    """
    if abs(slope - 1.0) < 1e-9:
        return K, profiles
    slope = min(max(slope, 0.0), 4.0)
    factor = 1.0
    bent: list[Array | None] = []
    for p in profiles:
        if p is None:
            bent.append(None)
            continue
        q = p**slope
        mean = float(q.mean())
        factor *= mean
        bent.append(q / mean)
    return K * factor, tuple(bent)
