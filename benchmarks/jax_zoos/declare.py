"""How an entry of this zoo is declared. Nothing of a library is imported before a model is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoinit import Input

from ..zoos.entry import Entry

BATCH, LENGTH, VOCABULARY, CLASSES, SIZE = 4, 32, 500, 100, 64
IMAGES = (BATCH, SIZE, SIZE, 3)


def entry(library: str, name: str, family: str, make: Callable[[], Any], inputs: Any, note: str = "") -> Entry:
    """The model that `make` returns, called "library:name"."""
    return Entry(f"{library}:{name}", f"{library}: {family}", make, inputs, note)


def tokens(length: int = LENGTH, vocabulary: int = VOCABULARY, batch: int = BATCH) -> Input:
    return Input((batch, length), vocabulary=vocabulary)


def times(batch: int = BATCH) -> NDArray[np.float32]:
    """Times of a diffusion, the same on every call."""
    return np.linspace(0.05, 0.95, batch, dtype=np.float32)
