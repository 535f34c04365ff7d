"""The outcome of a statistical test, with a note in the place of a p value that cannot be computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Significance:
    """The outcome of a test; without a p value the note says why it cannot be computed."""

    test: str
    statistic: float | None
    p: float | None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def tested(test: str, compute: Callable[[], Any]) -> Significance:
    """Run a test of SciPy; what it refuses or warns of becomes the note."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        try:
            result = compute()
        except (ValueError, np.linalg.LinAlgError) as error:
            return Significance(test, None, None, str(error))
    note = "; ".join(dict.fromkeys(" ".join(str(w.message).split()) for w in caught))
    statistic, p = float(result.statistic), float(result.pvalue)
    if not (np.isfinite(statistic) and np.isfinite(p)):
        return Significance(test, None, None, note or "the statistic is not finite")
    return Significance(test, statistic, p, note)


def mann_whitney(first: Any, second: Any, name: str, equal: str, *, method: str) -> Significance:
    """Whether values of the second sample tend to be above those of the first; equal: the note where none differs."""
    if not np.ptp(np.r_[first, second]):
        return Significance(name, None, None, equal)
    return tested(name, lambda: stats.mannwhitneyu(second, first, alternative="greater", method=method))


def wilcoxon(differences: Any, what: str, measure: str, none: str) -> Significance:
    """Whether paired differences are above zero. Pairs without a difference say nothing of which is better: left out.

    what: the name of the pairs, measure: of what is compared in them; none: the note where there are no pairs.
    """
    name = "Wilcoxon signed rank, paired, one-sided"
    moved = differences[np.abs(differences) > 1e-9]
    if not len(differences):
        return Significance(name, None, None, none)
    if not len(moved):
        return Significance(name, None, None, f"every {what} has the same {measure} with both")
    result = tested(name, lambda: stats.wilcoxon(np.round(moved, 6), alternative="greater"))
    kept = f"{len(moved)} of {len(differences)} {what}s differ"
    return Significance(name, result.statistic, result.p, "; ".join(filter(None, (kept, result.note))))


def signs(ups: int, downs: int, name: str, none: str) -> Significance:
    """The exact sign test: whether differences point both ways equally often."""
    if not ups + downs:
        return Significance(name, None, None, none)
    return Significance(name, float(ups), float(stats.binomtest(ups, ups + downs, 0.5).pvalue))
