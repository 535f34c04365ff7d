"""Is this a number, a size, a yes or no? Questions that options, inputs and rules ask of what they are given."""

from __future__ import annotations

import operator
from math import isfinite
from numbers import Complex, Real
from typing import Any

import numpy as np

LONGEST = 160
"""Characters of a value that an error shows."""


def real(value: Any) -> float | None:
    """A finite real number as float; None for anything else (texts, truth values, complex numbers, arrays)."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, np.floating, np.integer)):
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError):
        return None
    return number if isfinite(number) else None


def whole(value: Any) -> int | None:
    """A whole number (of Python, NumPy or a framework) as int; None for anything else, 3.0 and True included."""
    if isinstance(value, (bool, np.bool_, np.ndarray)):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def numbers(value: Any) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """A sequence or array of finite real numbers as a float64 array; None for anything else."""
    if isinstance(value, (str, bytes, dict, set, Complex)) or not hasattr(value, "__len__"):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # ragged lists, arrays of a framework that cannot be read
        return None
    if array.dtype.kind not in "iuf":
        return None
    made = array.astype(np.float64)
    return made if bool(np.isfinite(made).all()) else None


def brief(value: Any) -> str:
    """`repr(value)`, not longer than an error can bear, whatever its class does."""
    try:
        text = repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
