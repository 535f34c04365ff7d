"""Models inside models, deeper than Python's limit of recursion allows to call them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .variables import layers_in_order

PER_LEVEL = 40
"""Calls of functions that one model inside another takes, and some to spare."""
DEEPEST = 100_000


@contextmanager
def deep_enough(model: Any) -> Iterator[None]:
    """Inside, the limit of recursion suits the depth to which the model is nested; never less than it was."""
    before = sys.getrecursionlimit()
    depth = max(prefix.count("/") for _, prefix in layers_in_order(model))
    wanted = min(before + PER_LEVEL * depth, DEEPEST)
    try:
        sys.setrecursionlimit(max(before, wanted))
        yield
    finally:
        sys.setrecursionlimit(before)
