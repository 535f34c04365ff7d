"""What the figures of a discovery run show, as plain arrays: no drawing here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import OptionError
from .function import Function
from .statistics import Comparison, Edf, Gap
from .trials import NAMES, Chance, Trial, by_initialization

BINS = 20
FAMILY = 12
"""Curves of one function with drawn parameters."""
REACH = 4.0
"""Functions are drawn for −REACH ≤ x ≤ REACH: what unit-variance signals meet."""
POINTS = 401
HEIGHT = 6.0
"""No plot of a function is taller than −HEIGHT to HEIGHT."""


@dataclass(frozen=True)
class Histogram:
    """Failed functions are a count of their own; the others fall into bins that all initializations share."""

    labels: tuple[str, ...]
    initializations: tuple[str, ...]
    failures: tuple[int, ...]
    above: tuple[int, ...]
    functions: tuple[int, ...]
    edges: Any
    counts: Any
    baseline: float


def histogram(trials: Sequence[Trial], comparison: Comparison, bins: int = BINS) -> Histogram:
    chance, groups = comparison.chance, by_initialization(trials)
    learned = {
        name: [chance.counted(trial) for trial in group if chance.cause(trial) is None]
        for name, group in groups.items()
    }
    top = max((a for values in learned.values() for a in values), default=comparison.baseline)
    top = min(1.0, max(top, comparison.baseline) + 0.01)
    edges = np.linspace(chance.accuracy, max(top, chance.accuracy + 0.01), bins + 1)
    return Histogram(
        tuple(NAMES[name] for name in groups),
        tuple(groups),
        tuple(s.failures for s in comparison.summaries),
        tuple(s.above_baseline for s in comparison.summaries),
        tuple(s.functions for s in comparison.summaries),
        edges,
        np.array([np.histogram(values, edges)[0] for values in learned.values()]),
        comparison.baseline,
    )


@dataclass(frozen=True)
class EdfPair:
    """Two error distributions and where they are farthest apart."""

    first: str
    second: str
    errors: Any
    values: tuple[Any, Any]
    gap: Gap
    at_gap: tuple[float, float]
    p: float | None


def edf_pairs(trials: Sequence[Trial], comparison: Comparison) -> list[EdfPair]:
    """One for each contrast; the errors are the places where a distribution steps, closed by the next larger one."""
    chance, groups = comparison.chance, by_initialization(trials)
    curves = {name: Edf.of(chance.counted(t) for t in group) for name, group in groups.items()}
    lowest = min(curve.errors[0] for curve in curves.values())
    pairs = []
    for contrast in comparison.contrasts:
        one, two = curves[contrast.first], curves[contrast.second]
        errors = np.union1d(np.union1d(one.errors, two.errors), [lowest, 1.0])
        after = np.r_[errors[1:], 2.0]
        pairs.append(
            EdfPair(
                contrast.first,
                contrast.second,
                errors,
                (one(after), two(after)),
                contrast.gap,
                (float(one(contrast.gap.upto)), float(two(contrast.gap.upto))),
                contrast.kolmogorov_smirnov.p,
            )
        )
    return pairs


@dataclass(frozen=True)
class Shape:
    """A function with all parameters one, and with parameters drawn from U(0.5, 2) as training may find them."""

    formula: str
    x: Any
    initial: Any
    drawn: Any
    limits: tuple[float, float]


def best_trials(trials: Sequence[Trial], chance: Chance, count: int) -> list[Trial]:
    """The most accurate trials, each function once, with the initialization that served it best."""
    best: dict[str, Trial] = {}
    learned = (trial for trial in trials if chance.cause(trial) is None)
    for trial in sorted(learned, key=lambda t: (-chance.counted(t), t.function_formula)):
        best.setdefault(trial.function_formula, trial)
    return list(best.values())[:count]


def shape(function: Function, seed: int = 0) -> Shape:
    rng = np.random.default_rng(seed)
    x = np.linspace(-REACH, REACH, POINTS)
    draws = [{name: rng.uniform(0.5, 2.0) for name in function.parameters} for _ in range(FAMILY)]
    with np.errstate(all="ignore"):
        initial = _without_infinities(function(x))
        drawn = np.array([_without_infinities(function(x, **values)) for values in draws if values])
    return Shape(function.formula, x, initial, drawn, _limits(initial))


def _without_infinities(values: Any) -> Any:
    """A constant function has one value for all x; what is not finite is a gap."""
    values = np.broadcast_to(np.asarray(values, float), (POINTS,))
    return np.where(np.isfinite(values), values, np.nan)


def _limits(values: Any) -> tuple[float, float]:
    """Room around the initial function, at least one unit high, at most HEIGHT from zero."""
    shown = values[np.isfinite(values) & (np.abs(values) <= HEIGHT)]
    low, high = (float(shown.min()), float(shown.max())) if shown.size else (-1.0, 1.0)
    room = max(0.25 * (high - low), (1.0 - (high - low)) / 2, 0.1)
    return low - room, high + room


@dataclass(frozen=True)
class Scatter:
    """Accuracies of the same functions with two initializations."""

    first: str
    second: str
    x: Any
    y: Any
    outcome: tuple[str, ...]
    """Of each function: both, only first, only second, neither learned."""
    baseline: float
    chance: float


def scatter(trials: Sequence[Trial], comparison: Comparison, first: str, second: str) -> Scatter:
    chance, groups = comparison.chance, by_initialization(trials)
    other = {trial.key: trial for trial in groups.get(second, [])}
    pairs = [(trial, other[trial.key]) for trial in groups.get(first, []) if trial.key in other]
    if not pairs:
        raise OptionError("no function was trained with both initializations", where="scatter",
                          received=f"{first}, {second}", fix="train the same functions with each")  # fmt: skip
    names = {(True, True): "both", (True, False): "first", (False, True): "second", (False, False): "neither"}
    outcome = tuple(names[chance.cause(a) is None, chance.cause(b) is None] for a, b in pairs)
    x, y = (np.array([chance.counted(pair[k]) for pair in pairs]) for k in (0, 1))
    return Scatter(first, second, x, y, outcome, comparison.baseline, chance.accuracy)
