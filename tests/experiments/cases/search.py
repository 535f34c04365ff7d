"""Searches on five tasks: how far the best network gets, and how the population's mean moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments import search
from experiments.recipe import TRAINED
from experiments.trials import Trial
from tests.experiments.cases.made_up import Case
from tests.labs.codeepneat.made_up import course

Reached = Callable[[str, str, int], Sequence[Sequence[float]]]
"""From task, arm and seed to the fitness of the networks of each generation."""

STEADY = ([0.5, 0.3], [0.7, 0.5], [0.8, 0.6])
SHAKY = ([0.5, 0.3], [0.7, 0.0], [0.8, 0.6])


def given(reached: Reached, missing: Mapping[str, Any] | None = None) -> Callable[[], dict[str, Any]]:
    """missing: the place of a job that failed."""

    def summary() -> dict[str, Any]:
        preset = search.PRESETS["cpu"]
        found = []
        for job in search.jobs(preset):
            at = job.payload["at"]
            made = course(at["scheme"], at["seed"], reached(at["task"], at["scheme"], at["seed"]), task=at["task"])
            failed = missing is not None and missing.items() <= at.items()
            found.append(Trial(at, "error", {}) if failed else Trial(at, "done", made.to_dict()))
        return search.summary(found, preset)

    return summary


def lifted(by: Mapping[str, float], shaky: Sequence[str] = ("evolved",), recipe: float = 0.02) -> Reached:
    """AutoInit is ahead by so much in each task at all generations, the recipe by more; seeds differ by 0.001."""

    def reached(task: str, arm: str, seed: int) -> list[list[float]]:
        more = 0.0 if arm == "evolved" else by.get(task, 0.0) + (recipe if arm == TRAINED else 0.0)
        return [[value + more + 0.001 * seed for value in one] for one in (SHAKY if arm in shaky else STEADY)]

    return reached


FOUR = {"mnist": 0.05, "toxicity": 0.05, "adult": 0.05, "flowers": 0.05}
PAPER = given(lifted(FOUR))


def later(task: str, arm: str, seed: int) -> list[list[float]]:
    """AutoInit is behind at first, and ahead in two of three generations."""
    return [[0.4], [0.7], [0.8]] if arm == "autoinit" else [[0.5], [0.6], [0.7]]


def mixed(task: str, arm: str, seed: int) -> Sequence[Sequence[float]]:
    """AutoInit is steadier in three tasks, and shakier in two."""
    steady = "autoinit" if task in search.TASKS[:3] else "evolved"
    return STEADY if arm == steady else SHAKY


def recipe_in_one(task: str, arm: str, seed: int) -> Sequence[Sequence[float]]:
    """The recipe is ahead in one task, and behind in the other."""
    return lifted({}, recipe=0.02 if task == "mnist" else -0.02)(task, arm, seed)


CASES = [
    Case("recipe for training", "yes", PAPER),
    Case("recipe for training", "yes", given(lifted(FOUR, recipe=0.0))),
    Case("recipe for training", "no", given(lifted(FOUR, recipe=-0.02))),
    Case("recipe for training", "partly", given(recipe_in_one)),
    Case("recipe for training", "incomplete", given(lifted(FOUR), {"task": "mnist", "seed": 1, "scheme": TRAINED})),
    Case("four of five", "yes", given(lifted(FOUR), {"scheme": TRAINED})),
    Case("four of five", "yes", PAPER),
    Case("four of five", "yes", given(lifted(dict.fromkeys(search.TASKS, 0.05)))),
    Case("four of five", "partly", given(lifted({**FOUR, "omniglot": -0.05}))),
    Case("four of five", "partly", given(lifted({"mnist": 0.05}))),
    Case("four of five", "no", given(lifted({}))),
    Case("four of five", "no", given(lifted({"mnist": 0.05, "adult": -0.05}))),
    Case("four of five", "incomplete", given(lifted(FOUR), {"task": "adult", "seed": 2, "scheme": "evolved"})),
    Case("stable", "yes", PAPER),
    Case("stable", "no", given(lifted(FOUR, ("autoinit",)))),
    Case("stable", "no", given(lifted(FOUR, ()))),
    Case("stable", "partly", given(mixed)),
    Case("stable", "incomplete", given(lifted(FOUR), {"task": "mnist", "seed": 0, "scheme": "autoinit"})),
    Case("consistently", "yes", PAPER),
    Case("consistently", "partly", given(later)),
    Case("consistently", "no", given(lifted({}))),
    Case("consistently", "no", given(lifted({"flowers": -0.05}))),
    Case("consistently", "yes", given(lifted(FOUR), {"task": "mnist", "seed": 0, "scheme": "autoinit"})),
]
