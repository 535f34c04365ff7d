"""Arms against each other, task by task, over seeds.

With few seeds no test can be significant (three against three: p ≥ 0.05), so each comparison has an effect size beside
its tests: `better`, the probability that a run of the second arm beats one of the first (Vargha and Delaney's A). What
is called better, equal or worse follows from it alone: from 0.71 on they call an effect large.

Runs of one seed begin with the same networks in every arm. Each of these is trained by both arms with the same
hyperparameters and the same random numbers: they are compared in pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median, stdev
from typing import Any

import numpy as np

from ....errors import OptionError
from ...significance import Significance, mann_whitney, signs, wilcoxon
from ..initialization import EVOLVED
from .course import Course

LARGE = 0.71
BETTER, EQUAL, WORSE = "better", "equal", "worse"


@dataclass(frozen=True)
class Effect:
    """One measure of two arms, a value for each seed.

    better: P(second beats first) + ½ P(equal), over all pairs of runs.
    hedges: difference of the means in pooled standard deviations, corrected for few seeds; positive where the second
        is better, None without scatter.
    shared: how many seeds both arms have; `ahead` of them the second beats the first, `behind` it is beaten.
    """

    measure: str
    first: tuple[float, ...]
    second: tuple[float, ...]
    difference: float
    better: float
    hedges: float | None
    shared: int
    ahead: int
    behind: int
    mann_whitney: Significance
    wilcoxon: Significance

    @property
    def verdict(self) -> str:
        return BETTER if self.better >= LARGE else WORSE if self.better <= 1 - LARGE else EQUAL

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True)
class SameNetworks:
    """The first generations: networks that both arms trained, with the same hyperparameters and random numbers."""

    networks: int
    ahead: int
    behind: int
    difference: float
    wilcoxon: Significance

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Contrast:
    """The second arm against the first in one task, after as many generations as all runs have.

    best: the highest fitness so far; mean: of the population, over all generations; drop: by how much the population's
    mean falls from one generation to the next, on average; test: of the best network, trained again.
    higher: the generations in which the second arm's best so far, the median over seeds, is above the first's; `lower`
    likewise.
    """

    task: str
    preset: str
    first: str
    second: str
    generations: int
    best: Effect
    mean: Effect
    drop: Effect | None
    test: Effect | None
    higher: int
    lower: int
    same: SameNetworks | None

    def to_dict(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in ("best", "mean", "drop", "test", "same")}
        return {
            "task": self.task, "preset": self.preset, "first": self.first, "second": self.second,
            "generations": self.generations, "higher": self.higher, "lower": self.lower,
            **{name: None if part is None else part.to_dict() for name, part in parts.items()},
        }  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """overall: for each arm the sign test over all pairs of runs (a task, a seed) of the best fitness."""

    contrasts: tuple[Contrast, ...]
    overall: tuple[tuple[str, Significance], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "contrasts": [one.to_dict() for one in self.contrasts],
            "overall": {arm: found.to_dict() for arm, found in self.overall},
        }


def grouped(courses: Iterable[Course]) -> dict[tuple[str, str], dict[str, dict[int, Course]]]:
    """By task and preset, arm (the baseline first) and seed."""
    found: dict[tuple[str, str], dict[str, dict[int, Course]]] = {}
    for course in courses:
        seeds = found.setdefault((course.task, course.preset), {}).setdefault(course.initialization, {})
        if course.seed in seeds:
            raise OptionError("two runs are of the same task, preset, initialization and seed", where="compare",
                              received=course.name, fix="give each run once")  # fmt: skip
        seeds[course.seed] = course
    return {
        place: {arm: dict(sorted(arms[arm].items())) for arm in sorted(arms, key=lambda arm: (arm != EVOLVED, arm))}
        for place, arms in found.items()
    }


def compare(courses: Iterable[Course]) -> Comparison:
    """Every arm against the first one of its task: "evolved" where it is there."""
    groups = grouped(courses)
    contrasts = [
        _contrast(place, (baseline, arm), arms)
        for place, arms in groups.items()
        for baseline, *others in [list(arms)]
        for arm in others
    ]
    if not contrasts:
        raise OptionError("arms are compared within a task", where="compare",
                          received="; ".join(f"{task}: {', '.join(arms)}" for (task, _), arms in groups.items())
                          or "no runs", fix="runs of one task with two initializations")  # fmt: skip
    return Comparison(tuple(contrasts), tuple(_overall(contrasts)))


def effect(
    measure: str, first: Mapping[int, float], second: Mapping[int, float], *, higher: bool = True
) -> Effect:  # fmt: skip
    """Two arms by seed; `higher` values are better, or else lower ones."""
    sign = 1 if higher else -1
    x, y = sign * np.array(list(first.values())), sign * np.array(list(second.values()))
    pairs = [sign * (second[seed] - first[seed]) for seed in first if seed in second]
    beaten = np.sign(y[:, None] - x[None, :])
    return Effect(
        measure,
        tuple(first.values()),
        tuple(second.values()),
        sign * float(y.mean() - x.mean()) + 0.0,  # no minus zero
        float((beaten > 0).mean() + (beaten == 0).mean() / 2),
        _hedges(x, y),
        len(pairs),
        sum(one > 0 for one in pairs),
        sum(one < 0 for one in pairs),
        mann_whitney(x, y, "Mann-Whitney U, exact, one-sided", "all values are equal", method=_method(x, y)),
        wilcoxon(np.array(pairs), "seed", measure, "no seed is in both arms"),
    )


def _method(x: Any, y: Any) -> str:
    """SciPy's exact distribution has no ties."""
    both = np.r_[x, y]
    return "exact" if len(np.unique(both)) == len(both) else "asymptotic"


def _hedges(x: Any, y: Any) -> float | None:
    n, m = len(x), len(y)
    if n < 2 or m < 2:
        return None
    pooled = ((n - 1) * stdev(x) ** 2 + (m - 1) * stdev(y) ** 2) / (n + m - 2)
    if not pooled > 0:
        return None
    return float((y.mean() - x.mean()) / pooled**0.5 * (1 - 3 / (4 * (n + m) - 9)))


def _contrast(
    place: tuple[str, str], arms: tuple[str, str], found: Mapping[str, Mapping[int, Course]]
) -> Contrast:  # fmt: skip
    generations = min(len(course.stages) for arm in arms for course in found[arm].values())
    cut = [{seed: course.upto(generations) for seed, course in found[arm].items()} for arm in arms]

    def measured(name: str, of: Callable[[Course], float], *, higher: bool = True) -> Effect:
        first, second = ({seed: of(course) for seed, course in arm.items()} for arm in cut)
        return effect(name, first, second, higher=higher)

    tests = [{seed: c.tested for seed, c in arm.items() if c.tested is not None} for arm in cut]
    sides = [[median(c.best_so_far[k] for c in arm.values()) for k in range(generations)] for arm in cut]
    return Contrast(
        *place,
        *arms,
        generations,
        measured("best fitness", lambda course: course.best_so_far[-1]),
        measured("mean fitness", lambda course: fmean(course.means)),
        measured("mean drop", lambda course: course.mean_drop or 0.0, higher=False) if generations > 1 else None,
        effect("test score", *tests) if all(tests) else None,
        sum(b > a for a, b in zip(*sides, strict=True)),
        sum(b < a for a, b in zip(*sides, strict=True)),
        _same_networks(*cut),
    )


def _same_networks(first: Mapping[int, Course], second: Mapping[int, Course]) -> SameNetworks | None:
    differences = []
    for seed in first.keys() & second.keys():
        one, other = (dict(arm[seed].stages[0].networks) for arm in (first, second))
        differences += [other[key] - one[key] for key in one if key in other]
    if not differences:
        return None
    found = np.array(sorted(differences))
    return SameNetworks(
        len(found), int((found > 0).sum()), int((found < 0).sum()), float(found.mean()),
        wilcoxon(found, "network", "fitness", "no network is in both arms"),
    )  # fmt: skip


def _overall(contrasts: Sequence[Contrast]) -> Iterable[tuple[str, Significance]]:
    for arm in dict.fromkeys(contrast.second for contrast in contrasts):
        effects = [contrast.best for contrast in contrasts if contrast.second == arm]
        ups, downs = sum(one.ahead for one in effects), sum(one.behind for one in effects)
        yield arm, signs(ups, downs, "sign test over tasks and seeds, exact, two-sided", "no pair of runs differs")
