"""What the fields of a plan may hold, said beside their types: ``shape: list[Size]``. `plan_file` checks it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Any

LARGEST = 2**63 - 1
"""Of sizes, strides, offsets and indices."""
LONGEST = 10_000
"""Of texts, in characters."""

DISTRIBUTIONS = ("truncated_normal", "normal", "uniform", "orthogonal")
KINDS = (*DISTRIBUTIONS, "constant", "centre")
"""What a part of a parameter can be filled with; `random` stands for the plan's distribution."""
ACTIONS = ("set", "gain", "zero", "centre", "kept", "unreached")


@dataclass(frozen=True, slots=True)
class Between:
    """An integer from `least` to `most`."""

    least: int
    most: int = LARGEST

    def wrong(self, value: Any) -> str:
        if self.least <= value <= self.most:
            return ""
        return f"an integer of at least {self.least}" if value < self.least else f"an integer up to {self.most}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def wrong(self, value: Any) -> str:
        return "" if value in self.words else f"one of {', '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Finite:
    """A number that is neither infinite nor NaN."""

    def wrong(self, value: Any) -> str:
        return "" if isfinite(value) else "a finite number"


@dataclass(frozen=True, slots=True)
class MayBeMissing:
    """A prediction: null in the file stands for what is no number (JSON has no infinity)."""

    def wrong(self, value: Any) -> str:
        return ""


Size = Annotated[int, Between(0)]
"""A size, a stride, an offset, an index."""
Count = Annotated[int, Between(1)]
Seed = Annotated[int, Between(-(10**40), 10**40)]
Number = Annotated[float, Finite()]
Prediction = Annotated[float, MayBeMissing()]
Kind = Annotated[str, OneOf(("random", *KINDS))]
Action = Annotated[str, OneOf(ACTIONS)]
Distribution = Annotated[str, OneOf(DISTRIBUTIONS)]
