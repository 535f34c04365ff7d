"""Constant arrays as signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.graph import Constant
from ..signal.broadcast import aligned
from ..signal.masks import dead_entries
from ..signal.measured import from_array
from ..signal.signal import Signal

MOST = 1e29
"""Constants beyond this (the lowest number of a type, in masks) are taken as this: their squares must be finite."""
COMPARED = 2**20
"""Constants of more entries are not compared with others."""


class Constants:
    """The signals of constants. Equal ones are one signal, however often a model makes them: x + c - c is x."""

    def __init__(self) -> None:
        self._known: dict[int, Signal] = {}
        self._contents: dict[tuple[Any, ...], Signal] = {}

    def signal(self, ref: Constant) -> Signal | None:
        """A constant array: measured, None without values. Very negative entries are the dead places of a mask."""
        found = self._known.get(id(ref))
        if found is not None:
            return found
        array = ref.array()
        if array is None:
            return None
        values = np.asarray(array)
        key = (ref.shape, values.dtype.str, values.shape, values.tobytes() if values.size <= COMPARED else id(ref))
        if key not in self._contents:
            self._contents[key] = _measured(ref, values)
        self._known[id(ref)] = self._contents[key]
        return self._contents[key]

    def identity(self, ref: Constant) -> object:
        """Equal for constants that hold the same."""
        found = self.signal(ref)
        return id(ref) if found is None else id(found)


def _measured(ref: Constant, values: Any) -> Signal:
    if np.iscomplexobj(values):
        found = aligned(from_array(np.nan_to_num(values)), ref.shape)
        return found
    values = values.astype(np.float64)
    dead = dead_entries(values)
    live = ~dead if dead.any() and not np.all(dead) else None
    values = np.where(dead & (live is not None), 0.0, np.clip(np.nan_to_num(values), -MOST, MOST))
    found = aligned(from_array(values), ref.shape)
    return found if live is None else found.but(live=live)
