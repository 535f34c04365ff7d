"""CoDeepNEAT on five tasks: initializations that evolve with the networks, against AutoInit in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoinit.labs.codeepneat.drawings import figures as drawn
from autoinit.labs.codeepneat.results import Course, compare
from autoinit.labs.evolution import Job

from .claim import NO, PARTLY, YES, Claim, Finding, share
from .recipe import TRAINED
from .search_job import WORK
from .tables import table
from .trials import Trial

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Architecture search on five tasks"
TASKS = ("mnist", "toxicity", "adult", "omniglot", "flowers")
ARMS = ("evolved", "autoinit")
"""The paper's; the recipe for training is a third one in some of the tasks."""


@dataclass(frozen=True)
class Preset:
    """size: the preset of the tasks; generations: instead of its own number.
    sensitive: the tasks in which hyperparameters matter most; trained: those with a third arm.
    engine: of each search; "processes" keeps limits of time and memory.
    """

    size: str
    tasks: tuple[str, ...] = TASKS
    sensitive: tuple[str, ...] = ("flowers",)
    trained: tuple[str, ...] = ("mnist", "adult")
    seeds: int = 3
    generations: int | None = None
    engine: str = "processes"


PRESETS = {
    "paper": Preset("paper"),
    "cpu": Preset("cpu"),
    "smoke": Preset("smoke", tasks=("digits",), sensitive=("digits",), trained=("digits",), seeds=1, generations=2,
                    engine="serial"),
}  # fmt: skip
"""paper: the settings of the paper's table, for accelerators. Its figure has one search per arm.

cpu: five tasks, two or three arms, three seeds; hours on two cores. smoke: scikit-learn's digits stand in for the five.
"""


def jobs(preset: Preset) -> list[Job]:
    """Seeds last: after a third of the time there is one search of each kind."""
    return [
        Job(f"{task}/{arm}/{seed}", {
            "at": {"task": task, "scheme": arm, "seed": seed}, "preset": preset.size,
            "generations": preset.generations, "engine": preset.engine,
        })
        for seed in range(preset.seeds)
        for task in preset.tasks
        for arm in (*ARMS, TRAINED)
        if arm != TRAINED or task in preset.trained
    ]  # fmt: skip


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """For each task the contrast of the arms; None where not all of its searches have ended well."""
    courses = _courses(trials)
    found: dict[str, Any] = {}
    pairs = (0, 0)
    for task in preset.tasks:
        found[task] = _contrast(courses, task, ARMS, preset.seeds)
        if found[task] is not None:
            pairs = pairs[0] + found[task]["best"]["ahead"], pairs[1] + found[task]["best"]["behind"]
    whole = [c for c in courses if found[c.task] is not None and c.initialization in ARMS]
    overall = compare(whole).to_dict()["overall"]["autoinit"] if whole else None
    trained = {task: _contrast(courses, task, ("autoinit", TRAINED), preset.seeds) for task in preset.trained}
    return {"tasks": found, "sensitive": list(preset.sensitive), "ahead": pairs[0], "behind": pairs[1],
            "overall": overall, "trained": trained}  # fmt: skip


def _contrast(courses: Sequence[Course], task: str, arms: tuple[str, str], seeds: int) -> dict[str, Any] | None:
    """The second arm against the first; None where one of their searches is missing."""
    chosen = [course for course in courses if course.task == task and course.initialization in arms]
    if {(c.initialization, c.seed) for c in chosen} != {(arm, seed) for arm in arms for seed in range(seeds)}:
        return None
    contrast: dict[str, Any] = compare(chosen).to_dict()["contrasts"][0]
    return contrast


def tables(summary: Mapping[str, Any]) -> str:
    rows, notes = _rows(summary["tasks"]), [_note(task, one) for task, one in summary["tasks"].items() if one]
    if not rows:
        return "No task has all of its searches.\n"
    overall = summary["overall"]
    p = f"p = {overall['p']:.3g}" if overall["p"] is not None else overall["note"]
    notes.append(f"All tasks and seeds: AutoInit has the higher best fitness in {summary['ahead']} pairs of searches, "
                 f"the lower in {summary['behind']} (sign test: {p}).")  # fmt: skip
    told = (
        "Accuracies in percent: the mean over seeds, and their range. Best: validation accuracy of the best network; "
        "test: of the same, trained again; mean: of all networks of all generations; drop: by how much the mean of "
        "the population falls from one generation to the next, on average. P(better): the probability that a search "
        "with AutoInit does better than one without (from 0.71 on: better; up to 0.29: worse). p: exact where there "
        "are no ties; three seeds against three cannot come below 0.05."
    )
    notes_and_all = "\n".join(f"- {note}" for note in notes) + "\n"
    return f"{told}\n\n{table(_head('evolved', 'AutoInit'), rows)}\n{notes_and_all}{_recipe_table(summary)}"


def _recipe_table(summary: Mapping[str, Any]) -> str:
    rows = _rows(summary.get("trained", {}))
    head = _head("AutoInit", "with the recipe")
    return f"\nThe recipe for training, against AutoInit without it:\n\n{table(head, rows)}" if rows else ""


def _head(first: str, second: str) -> list[str]:
    return ["task", "measure", first, second, "difference", "P(better)", "Hedges g", "p (U)", f"{second} is"]


def _rows(contrasts: Mapping[str, Any]) -> list[list[str]]:
    return [
        [task, name, *_cells(one[name])]
        for task, one in contrasts.items()
        for name in ("best", "test", "mean", "drop")
        if one is not None and one[name] is not None
    ]


def _cells(effect: Mapping[str, Any]) -> list[str]:
    p, g = effect["mann_whitney"]["p"], effect["hedges"]
    return [
        _range(effect["first"]), _range(effect["second"]), f"{100 * effect['difference']:+.2f}",
        f"{effect['better']:.2f}", "" if g is None else f"{g:+.2f}", "" if p is None else f"{p:.2g}",
        effect["verdict"],
    ]  # fmt: skip


def _range(values: Sequence[float]) -> str:
    mean = f"{100 * sum(values) / len(values):.2f}"
    return mean if len(values) == 1 else f"{mean} ({100 * min(values):.2f} to {100 * max(values):.2f})"


def _note(task: str, one: Mapping[str, Any]) -> str:
    told = f"{task}: best so far higher in {one['higher']} of {one['generations']} generations, lower in {one['lower']}"
    same = one["same"]
    if same is None:
        return f"{told}."
    p = same["wilcoxon"]["p"]
    return (f"{told}; of the {same['networks']} first networks, which both arms train, AutoInit is better with "
            f"{same['ahead']}, worse with {same['behind']}" + ("." if p is None else f" (Wilcoxon: p = {p:.2g}).")
            )  # fmt: skip


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Those of the lab, of the searches that have ended."""
    courses = _courses(trials)
    return drawn.write(courses, folder) if courses else []


def losses(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"{task}: {name} {_range(one[name]['second'])} with AutoInit, {_range(one[name]['first'])} evolved"
        for task, one in summary["tasks"].items()
        if one is not None
        for name in ("best", "test", "mean")
        if one[name] is not None and one[name]["difference"] < 0
    ]


def _courses(trials: Sequence[Trial]) -> list[Course]:
    return [Course.from_dict(trial.value) for trial in trials if not trial.failed]


def _all(summary: Mapping[str, Any], names: Sequence[str] | None = None) -> dict[str, Any] | None:
    """The tasks by name; None if one of them is missing."""
    found = {name: summary["tasks"][name] for name in (names or summary["tasks"])}
    return None if any(one is None for one in found.values()) else found


def _better_in_four(summary: Mapping[str, Any]) -> Finding | None:
    """Yes: better in all tasks but one at least, and worse in none. Partly: better in more tasks than worse."""
    found = _all(summary)
    if found is None:
        return None
    verdicts = {task: one["best"]["verdict"] for task, one in found.items()}
    better, worse = (sum(v == word for v in verdicts.values()) for word in ("better", "worse"))
    text = ", ".join(f"{task} {100 * one['best']['difference']:+.2f} ({verdicts[task]})" for task, one in found.items())
    enough = better >= max(1, len(found) - 1)
    agrees = YES if enough and not worse else PARTLY if better > worse else NO
    return Finding(f"points of the best network's validation accuracy: {text}", agrees)


def _more_stable(summary: Mapping[str, Any]) -> Finding | None:
    found = _all(summary)
    if found is None:
        return None
    drops = {task: [sum(values) / len(values) for values in (one["drop"]["first"], one["drop"]["second"])]
             for task, one in found.items() if one["drop"] is not None}  # fmt: skip
    if len(drops) < len(found):
        return None
    smaller = sum(second < first for first, second in drops.values())
    text = ", ".join(f"{task} {100 * a:.2f} / {100 * b:.2f}" for task, (a, b) in drops.items())
    return Finding(
        f"mean drop of the population's mean per generation, in points (evolved / AutoInit): {text}; smaller in "
        f"{smaller} of {len(drops)} tasks", share(smaller, len(drops)),
    )  # fmt: skip


def _consistently_higher(summary: Mapping[str, Any]) -> Finding | None:
    """Of the best so far, the median over seeds; ties are neither higher nor lower. Yes: higher in all generations."""
    found = _all(summary, summary["sensitive"])
    if found is None:
        return None
    higher, lower, total = (sum(one[name] for one in found.values()) for name in ("higher", "lower", "generations"))
    text = f"{', '.join(found)}: best so far higher in {higher} of {total} generations, lower in {lower}"
    for task, one in found.items():
        same = one["same"]
        if same is not None:
            text += f"; of {same['networks']} networks of the first generation better with {same['ahead']}"
            text += f", worse with {same['behind']}" + ("" if len(found) == 1 else f" ({task})")
    agrees = share(higher, total) if higher > lower else NO
    return Finding(text, agrees)


def _recipe(summary: Mapping[str, Any]) -> Finding | None:
    found = summary.get("trained")
    if not found or any(one is None for one in found.values()):
        return None
    verdicts = {task: one["best"]["verdict"] for task, one in found.items()}
    text = ", ".join(f"{task} {100 * one['best']['difference']:+.2f} ({verdicts[task]})" for task, one in found.items())
    fine = sum(verdict != "worse" for verdict in verdicts.values())
    return Finding(f"points of the best network's validation accuracy: {text}", share(fine, len(found)))


CLAIMS = [
    Claim("Architecture search: AutoInit outperforms evolved initializations in four of five tasks and matches them in "
          "the fifth", "4 better, 1 equal (figure)", _better_in_four),
    Claim("Architecture search: with AutoInit the population's mean fitness is more stable in each task",
          "figure", _more_stable),
    Claim("Architecture search, Flowers, where hyperparameters play a large role: consistently higher with AutoInit",
          "figure", _consistently_higher),
    Claim("Architecture search: with the recipe for training AutoInit finds networks that are as good, or better", None,
          _recipe),
]  # fmt: skip
