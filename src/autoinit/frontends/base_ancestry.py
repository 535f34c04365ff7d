"""Following tensors back to where their randomness comes from: limits, and sets of starts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

MOST_OPS = 400
"""A value that needs more ops than this since the last weights is not traced back."""
LARGEST = 2**23
"""Tensors with more entries are not sampled."""
MOST_STARTS = 4
"""What comes of more starts than this counts as related to nothing."""

S = TypeVar("S")


def union(parts: Iterable[frozenset[S] | None]) -> frozenset[S] | None:
    """The starts of what was made of these parts; None where they are too many, or not known."""
    starts: frozenset[S] = frozenset()
    for part in parts:
        if part is None:
            return None
        starts |= part
    return starts if len(starts) <= MOST_STARTS else None


def share(one: frozenset[S] | None, other: frozenset[S] | None) -> bool:
    """Whether two tensors have a start in common."""
    return bool((one or frozenset()) & (other or frozenset()))
