"""The scale at which a contraction comes out at its target: root finding on its second moment.

For a weight that follows its parameters by a power law, E[y^2](t) = c t^(2d), two evaluations and a straight line in
log-log coordinates give the answer. What is no power law (tanh(w), clamp(w), w + b a, softmax(w)) is nearly always
monotone: bracket the target by powers of four, then Brent's method. Bounded functions may never reach it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

from scipy.optimize import brentq

FLAT = 2e-3
"""A second moment that changes by less than this over a factor of 16 does not depend on the scale."""
NEARLY_FLAT, SOFTENED = 0.02, 0.2
"""The same for what is divided by its own size and an epsilon: at larger scales, and from the start to there."""
LEAST_SLOPE = 0.1
"""d log E[y^2] / d log t below this: the function is saturated, and its scale nearly free."""
STEP = log(4.0)
MOST_STEPS = 16
EXACT = 1e-9
FAR = 600.0
"""Stands for the logarithm of zero, and of what is no number."""
FARTHEST = 80.0


@dataclass(frozen=True, slots=True)
class Found:
    """What came of the search. kind: solved, zero (no signal), flat (no effect), unreachable."""

    kind: str
    scale: float
    low: float = 0.0
    high: float = 0.0
    """The second moments that scales within reach lead to."""


def find_scale(second_moment: Callable[[float], float], start: float, target: float, normalised: bool = False) -> Found:
    """The t with second_moment(t) = target, looked for from `start` on; `start` itself where there is none.

    What is `normalised` on the way has no scale but for the epsilon in its denominator, which counts less at larger t.
    """
    known: dict[float, float] = {}

    def height(s: float) -> float:
        if s not in known:
            value = second_moment(start * exp(s))
            known[s] = log(value / target) if 0 < value < inf else (-FAR if value == 0 else FAR)
        return known[s]

    first = height(0.0)
    if abs(first) == FAR and height(STEP) == height(-STEP) == first:
        return Found("zero", start)
    if normalised:
        flat = abs(height(2 * STEP) - height(STEP)) < NEARLY_FLAT and abs(height(STEP) - first) < SOFTENED
    else:
        flat = max(abs(height(STEP) - first), abs(first - height(-STEP))) < FLAT
    if flat:
        return Found("flat", start, *[target * exp(first)] * 2)
    s = _by_power_law(height)
    if s is None:
        s = _bracketed(height)
    if s is not None and abs(height(s + 0.1) - height(s - 0.1)) / 0.2 >= LEAST_SLOPE:
        return Found("solved", start * exp(s))
    heights = [h for h in known.values() if abs(h) < FAR]
    return Found("unreachable", start, target * exp(min(heights)), target * exp(max(heights)))


def _by_power_law(height: Callable[[float], float]) -> float | None:
    """Where the straight line through two points meets zero, if the function does so too."""
    a, b = height(0.0), height(STEP)
    slope = (b - a) / STEP
    if max(abs(a), abs(b)) >= FAR or abs(slope) < LEAST_SLOPE:
        return None
    s = -a / slope
    for _ in range(2):
        rest = height(s) if abs(s) < FARTHEST else FAR
        if abs(rest) < EXACT:
            return s
        if rest == FAR:
            break
        s -= rest / slope
    return None


def _bracketed(height: Callable[[float], float]) -> float | None:
    """A zero by Brent's method; the nearest places with different signs bracket it."""
    above = height(0.0) > 0
    for k in range(1, MOST_STEPS + 1):
        for s in (-k * STEP, k * STEP):
            before = s - STEP if s > 0 else s + STEP
            if (height(s) > 0) != above:
                return float(brentq(height, min(s, before), max(s, before), xtol=1e-7))
    return None
