"""A comparison in plain text, for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ..report import aligned
from .comparison import Comparison, Contrast, Effect

COLUMNS = (
    "measure", "first", "second", "difference", "P(better)", "Hedges g", "p (U)", "p (paired)", "second is",
)  # fmt: skip


def text(comparison: Comparison) -> str:
    """Every contrast as a table, and what they say together."""
    parts = [_contrast(one) for one in comparison.contrasts]
    for arm, found in comparison.overall:
        p = found.note if found.p is None else f"p = {found.p:.3g}"
        ups = sum(one.best.ahead for one in comparison.contrasts if one.second == arm)
        downs = sum(one.best.behind for one in comparison.contrasts if one.second == arm)
        parts.append(f"{arm}, all tasks and seeds: higher best fitness in {ups} pairs of runs, lower in {downs}; {p}")
    return "\n\n".join(parts)


def _contrast(one: Contrast) -> str:
    seeds = f"seeds: {len(one.best.first)} and {len(one.best.second)}"
    head = f"{one.task} ({one.preset}): {one.first} (first), {one.second} (second); {one.generations} generations"
    effects = [found for found in (one.best, one.test, one.mean, one.drop) if found is not None]
    lines = aligned([COLUMNS, *(_row(found) for found in effects)])
    told = [f"{head}, {seeds}", *lines, f"best so far: {one.second} higher in {one.higher} of {one.generations} "
            f"generations, lower in {one.lower} (medians over seeds)"]  # fmt: skip
    if one.same is not None:
        p = one.same.wilcoxon.note if one.same.wilcoxon.p is None else f"p = {one.same.wilcoxon.p:.3g}"
        told.append(
            f"the same {one.same.networks} first networks: {one.second} better with {one.same.ahead}, worse with "
            f"{one.same.behind}, by {one.same.difference:+.4f} on average; {p}"
        )
    return "\n".join(told)


def _row(found: Effect) -> Sequence[str]:
    return (
        found.measure, mean_and_range(found.first), mean_and_range(found.second), f"{found.difference:+.4f}",
        f"{found.better:.2f}", "" if found.hedges is None else f"{found.hedges:+.2f}",
        *("" if test.p is None else f"{test.p:.3f}" for test in (found.mann_whitney, found.wilcoxon)), found.verdict,
    )  # fmt: skip


def mean_and_range(values: Sequence[float]) -> str:
    """0.912 (0.901 to 0.920)."""
    mean = f"{sum(values) / len(values):.4f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.4f} to {max(values):.4f})"
