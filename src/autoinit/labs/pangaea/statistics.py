"""Which initialization lets more activation functions train, and train better: the paper's statistics and two more.

The paper drew 200 functions anew for each initialization and compared the three distributions of accuracies
(Kolmogorov-Smirnov, Epps-Singleton, Mann-Whitney). Where the same functions are trained with each initialization, most
of the scatter is between functions and the same on both sides. Tests of independent samples then waste power (and their
p values are too large); the tests for pairs look at each function's own difference: Wilcoxon's signed ranks for
accuracies, McNemar's for failures. Both are given where functions are shared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats

from ...errors import OptionError
from ..significance import Significance, mann_whitney, signs, tested, wilcoxon
from .trials import Chance, Trial, by_initialization

PAIRS = (("default", "autoinit"), ("default", "autoinit++"), ("autoinit", "autoinit++"))
DRAWS = 10_000
CONFIDENCE = 0.95
COMMON = 0.5
"""Trials are compared in pairs when at least this part of the functions was trained with both initializations."""

UNPAIRED = "fewer than half of the functions were trained with both"


@dataclass(frozen=True)
class Edf:
    """F(e) = (1/n) Σ 1[eᵢ < e]: the fraction of functions with an error below e (strictly, as in the paper)."""

    errors: tuple[float, ...]

    @classmethod
    def of(cls, accuracies: Iterable[float]) -> Edf:
        return cls(tuple(sorted(round(1 - a, 6) for a in accuracies)))

    def __call__(self, error: Any) -> Any:
        return np.searchsorted(self.errors, error, side="left") / len(self.errors)


@dataclass(frozen=True)
class Gap:
    """D = sup |F₁(e) − F₂(e)|, attained at every e with above < e ≤ upto."""

    size: float
    above: float
    upto: float

    @classmethod
    def between(cls, first: Edf, second: Edf) -> Gap:
        """Both functions are constant between neighbouring errors: it is enough to look at the errors themselves."""
        places = np.union1d(first.errors, second.errors)
        sizes = np.abs(first(places) - second(places))
        k = int(np.argmax(sizes))
        return cls(float(sizes[k]), float(places[max(k - 1, 0)]), float(places[k]))


@dataclass(frozen=True)
class Summary:
    """What one initialization achieved.

    failures: functions that are not significantly better than chance (see `Chance`), by whatever cause;
    at_chance: the plain count, measured accuracy ≤ 1/classes.
    """

    initialization: str
    functions: int
    failures: int
    at_chance: int
    above_baseline: int
    median: float
    best: float
    best_formula: str
    causes: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class FailureChange:
    """Failures of the first initialization minus those of the second: how many the second avoids.

    low, high: bootstrap interval over functions (95 %). Where functions are shared, `avoided` counts those that failed
    only with the first, `added` those that failed only with the second; McNemar's exact test asks whether a function
    that failed with one only did so with either equally often. Counts are those of the shared functions then.
    """

    difference: int
    low: float
    high: float
    shared: int
    avoided: int | None
    added: int | None
    mcnemar: Significance

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Contrast:
    """Two initializations against each other. One-sided tests ask whether the second is better.

    better: P(a function with the second is more accurate than one with the first) + ½ P(equal), for functions drawn
    independently: the Mann-Whitney statistic as a probability.
    dominates: F_second(e) ≥ F_first(e) at every e. The paper reads this from the Mann-Whitney test, which does not
    imply it.
    """

    first: str
    second: str
    gap: Gap
    dominates: bool
    better: float
    kolmogorov_smirnov: Significance
    epps_singleton: Significance
    mann_whitney: Significance
    wilcoxon: Significance
    failures: FailureChange

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """Everything about one set of trials."""

    chance: Chance
    threshold: float
    baseline: float
    summaries: tuple[Summary, ...]
    contrasts: tuple[Contrast, ...]

    def summary(self, initialization: str) -> Summary | None:
        return next((s for s in self.summaries if s.initialization == initialization), None)

    def contrast(self, first: str, second: str) -> Contrast | None:
        return next((c for c in self.contrasts if (c.first, c.second) == (first, second)), None)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare(
    trials: Iterable[Trial], classes: int, validation_size: int, baseline: float, *, seed: int = 0
) -> Comparison:
    """All statistics of a set of trials.

    baseline: accuracy of ReLU with the default initialization on the same validation images, 0 to 1.
    seed: of the bootstrap.
    """
    chance = Chance(classes, validation_size)
    if not 0 <= baseline <= 1:
        raise OptionError("the baseline is an accuracy between 0 and 1", where="compare", received=repr(baseline),
                          fix="divide percentages by 100")  # fmt: skip
    groups = by_initialization(trials)
    if not groups:
        raise OptionError("there are no trials", where="compare", fix="run an evaluation first")
    return Comparison(
        chance,
        chance.threshold,
        baseline,
        tuple(_summary(name, group, chance, baseline) for name, group in groups.items()),
        tuple(_contrast(a, b, groups, chance, seed) for a, b in PAIRS if a in groups and b in groups),
    )


def _summary(name: str, group: Sequence[Trial], chance: Chance, baseline: float) -> Summary:
    accuracies = np.array([chance.counted(trial) for trial in group])
    causes = Counter(cause for trial in group if (cause := chance.cause(trial)))
    best = int(np.argmax(accuracies))
    return Summary(
        name,
        len(group),
        failures=causes.total(),
        at_chance=sum(chance.measured(trial) <= chance.accuracy for trial in group),
        above_baseline=int(np.sum(accuracies > round(baseline, 6))),
        median=float(np.median(accuracies)),
        best=float(accuracies[best]),
        best_formula=group[best].function_formula,
        causes=dict(causes),
    )


def _contrast(first: str, second: str, groups: dict[str, list[Trial]], chance: Chance, seed: int) -> Contrast:
    ones, twos = groups[first], groups[second]
    x, y = (np.array([chance.counted(t) for t in group]) for group in (ones, twos))
    shared = _shared(ones, twos)
    differences = np.array([chance.counted(b) - chance.counted(a) for a, b in shared])
    one, two = Edf.of(x), Edf.of(y)
    places = np.union1d(one.errors, two.errors)
    above = stats.mannwhitneyu(y, x, method="asymptotic").statistic
    return Contrast(
        first,
        second,
        Gap.between(one, two),
        bool(np.all(two(places) >= one(places))),
        float(above) / (len(x) * len(y)),
        tested("Kolmogorov-Smirnov, two-sided", lambda: stats.ks_2samp(x, y)),
        _epps_singleton(x, y),
        mann_whitney(x, y, "Mann-Whitney U, one-sided", "all accuracies are equal", method="asymptotic"),
        wilcoxon(differences, "shared function", "accuracy", UNPAIRED),
        _failure_change(ones, twos, shared, chance, seed),
    )


def _shared(ones: Sequence[Trial], twos: Sequence[Trial]) -> list[tuple[Trial, Trial]]:
    """Both trials of every function that has both; none where these are too few to stand for all."""
    other = {trial.key: trial for trial in twos}
    pairs = [(trial, other[trial.key]) for trial in ones if trial.key in other]
    return pairs if len(pairs) >= COMMON * max(len(ones), len(twos)) else []


def _epps_singleton(x: Any, y: Any) -> Significance:
    """Compares the characteristic functions at two points, in units of the pooled interquartile range."""
    name = "Epps-Singleton, two-sided"
    if not stats.iqr(np.r_[x, y]) > 0:
        return Significance(name, None, None, "the middle half of all accuracies are equal: the test has no scale")
    return tested(name, lambda: stats.epps_singleton_2samp(x, y))


def _failure_change(
    ones: Sequence[Trial], twos: Sequence[Trial], shared: Sequence[tuple[Trial, Trial]], chance: Chance, seed: int
) -> FailureChange:
    """Drawing n functions with replacement and counting is a draw of Multinomial(n, observed fractions)."""
    rng = np.random.default_rng(seed)
    if shared:
        failed = [(chance.cause(a) is not None, chance.cause(b) is not None) for a, b in shared]
        n, avoided, added = len(failed), failed.count((True, False)), failed.count((False, True))
        drawn = rng.multinomial(n, np.array([avoided, added, n - avoided - added]) / n, size=DRAWS)
        test = _mcnemar(avoided, added)
        return FailureChange(avoided - added, *_interval(drawn[:, 0] - drawn[:, 1]), n, avoided, added, test)
    failures = [sum(chance.cause(trial) is not None for trial in group) for group in (ones, twos)]
    first, second = (
        rng.binomial(len(group), count / len(group), DRAWS) for group, count in zip((ones, twos), failures, strict=True)
    )
    none = Significance("McNemar, exact, two-sided", None, None, UNPAIRED)
    return FailureChange(failures[0] - failures[1], *_interval(first - second), 0, None, None, none)


def _interval(draws: Any) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def _mcnemar(avoided: int, added: int) -> Significance:
    return signs(avoided, added, "McNemar, exact, two-sided", "the same functions failed with both")
