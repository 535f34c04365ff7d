"""What a hyperparameter may be: how it is drawn, how it changes, and how far two of its values are apart.

A real value changes by a Gaussian step, a fifth of its range wide (of the range of logarithms on a log scale), and is
reflected at the ends; a choice is drawn anew among the other values. Reals keep four digits, so that genomes print
as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, isfinite, log
from typing import Any

import numpy as np

from .problems import SpaceError

Value = float | int | str | bool

STEP = 0.2
"""Standard deviation of a step as a share of the range."""
DIGITS = 4


@dataclass(frozen=True)
class Real:
    """A number from `low` to `high`."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high) or (self.log and self.low <= 0):
            raise SpaceError("a range goes from a number to a larger one, both positive on a log scale", where="Real",
                             received=repr(self), fix="Real(1e-4, 1e-2, log=True)")  # fmt: skip

    def at(self, place: float) -> float:
        """The value at a place between 0 and 1."""
        a, b = (log(self.low), log(self.high)) if self.log else (self.low, self.high)
        value = exp(a + place * (b - a)) if self.log else a + place * (b - a)
        return float(min(max(float(f"{value:.{DIGITS}g}"), self.low), self.high))

    def place(self, value: Any) -> float:
        a, b, x = (log(self.low), log(self.high), log(value)) if self.log else (self.low, self.high, value)
        return float((x - a) / (b - a))

    def draw(self, rng: np.random.Generator) -> float:
        return self.at(rng.random())

    def changed(self, value: Any, rng: np.random.Generator) -> float:
        return self.at(_stepped(self.place(value), rng))

    def contains(self, value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and self.low <= value <= self.high

    def difference(self, one: Any, other: Any) -> float:
        return abs(self.place(one) - self.place(other))


@dataclass(frozen=True)
class Whole:
    """An integer from `low` to `high`, both included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not all(type(v) is int for v in (self.low, self.high)) or self.low >= self.high:
            raise SpaceError("a range goes from an integer to a larger one", where="Whole", received=repr(self),
                             fix="Whole(16, 96)")  # fmt: skip

    def draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(self.low, self.high + 1))

    def changed(self, value: Any, rng: np.random.Generator) -> int:
        """Always another one."""
        span = self.high - self.low
        new = self.low + round(_stepped((value - self.low) / span, rng) * span)
        return new if new != value else new + (1 if new < self.high else -1)

    def contains(self, value: Any) -> bool:
        return type(value) is int and self.low <= value <= self.high

    def difference(self, one: Any, other: Any) -> float:
        return float(abs(one - other) / (self.high - self.low))


@dataclass(frozen=True)
class Choice:
    """One of some values."""

    values: tuple[Value, ...]

    def __init__(self, *values: Value) -> None:
        if not values or len(set(map(repr, values))) != len(values):
            raise SpaceError("a choice is between different values, at least one", where="Choice",
                             received=repr(values), fix="Choice('relu', 'elu')")  # fmt: skip
        object.__setattr__(self, "values", values)

    def draw(self, rng: np.random.Generator) -> Value:
        return self.values[rng.integers(len(self.values))]

    def changed(self, value: Any, rng: np.random.Generator) -> Value:
        others = [v for v in self.values if not _like(v, value)]
        return others[rng.integers(len(others))] if others else value

    def contains(self, value: Any) -> bool:
        return any(_like(v, value) for v in self.values)

    def difference(self, one: Any, other: Any) -> float:
        return 0.0 if _like(one, other) else 1.0


Range = Real | Whole | Choice
Ranges = tuple[tuple[str, Range], ...]


def pairs(given: Mapping[str, Any] | tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """Names with what they stand for, as something that cannot change."""
    return tuple(given.items()) if isinstance(given, Mapping) else tuple((name, value) for name, value in given)


def range_to_dict(given: Range) -> dict[str, Any]:
    if isinstance(given, Choice):
        return {"choice": list(given.values)}
    if isinstance(given, Whole):
        return {"whole": [given.low, given.high]}
    return {"log" if given.log else "real": [given.low, given.high]}


def range_from_dict(data: Mapping[str, Any]) -> Range:
    ((kind, values),) = data.items()
    if kind == "choice":
        return Choice(*values)
    low, high = values
    return Whole(low, high) if kind == "whole" else Real(low, high, kind == "log")


def _like(one: Any, other: Any) -> bool:
    """True and 1 are different choices."""
    return type(one) is type(other) and bool(one == other)


def _stepped(place: float, rng: np.random.Generator) -> float:
    """A Gaussian step from a place between 0 and 1, reflected at the ends."""
    new = abs(place + STEP * rng.standard_normal()) % 2
    return 2 - new if new > 1 else new
