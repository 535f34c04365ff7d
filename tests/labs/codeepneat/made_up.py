"""Courses of searches that never took place, with numbers that are known."""

from __future__ import annotations

from collections.abc import Sequence

from autoinit.labs.codeepneat.results import Course, Stage


def course(
    initialization: str, seed: int, generations: Sequence[Sequence[float]], *, task: str = "toy",
    test: float | None = None,
) -> Course:  # fmt: skip
    """generations: the fitness of each network; the first ones have the same keys in every arm."""
    stages = tuple(
        Stage(number, tuple((f"{seed}-{number}-{k}", value) for k, value in enumerate(values)), (),
              (("0", 2),), (("0", 3), ("1", 2 + number)), (("elu", 1), ("relu", 1 + number)), (("he_normal", 2),))
        for number, values in enumerate(generations)
    )  # fmt: skip
    return Course(task, "cpu", initialization, seed, stages, test=None if test is None else (("accuracy", test),))
