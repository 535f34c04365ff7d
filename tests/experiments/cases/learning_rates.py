"""Unnormalised ResNets: the learning rates that work at each depth, with the default and with AutoInit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.recipe import TRAINED
from tests.experiments.cases.made_up import Case, made_up

Range = tuple[float, float] | None
DEPTHS = (56, 164, 812)


Ranges = tuple[Range, Range, Range]


def given(default: Ranges, ours: Ranges, recipe: Ranges | None = None) -> Callable[[], dict[str, Any]]:
    """The lowest and the highest rate that works at each depth; None: none does. Other rates diverge."""
    known = {"default": default, "autoinit": ours, TRAINED: recipe or ours}

    def reached(payload: Any) -> float | None:
        at = payload["at"]
        works = dict(zip(DEPTHS, known[at["scheme"]], strict=True))[at["depth"]]
        return 0.5 if works and works[0] <= at["rate"] <= works[1] else None

    return lambda: made_up("learning_rates", reached)


SMALL, LARGE, LARGE_AND_SMALL = (1e-8, 5e-4), (1e-4, 0.05), (1e-8, 0.05)
PAPER = given((SMALL, None, None), (LARGE, LARGE, LARGE))
NOTHING = given((None, None, None), (None, None, None))
SWAPPED = given((LARGE, LARGE, LARGE), (SMALL, None, None))
CASES = [
    Case("recipe for training", "yes", PAPER),
    Case("recipe for training", "yes", given((None,) * 3, (SMALL, LARGE, None), (LARGE_AND_SMALL, LARGE, SMALL))),
    Case("recipe for training", "partly", given((None,) * 3, (LARGE,) * 3, (LARGE, LARGE, (1e-4, 0.01)))),
    Case("recipe for training", "no", given((None,) * 3, (LARGE,) * 3, (SMALL, (1e-3, 0.05), LARGE))),
    Case("ResNet-56 without norm, default", "yes", PAPER),
    Case("ResNet-56 without norm, default", "partly", NOTHING),
    Case("ResNet-56 without norm, default", "no", SWAPPED),
    Case("no learning rate works", "yes", PAPER),
    Case("no learning rate works", "partly", given((SMALL, SMALL, None), (LARGE, LARGE, LARGE))),
    Case("no learning rate works", "no", SWAPPED),
    Case("trains all three depths", "yes", PAPER),
    Case("trains all three depths", "partly", given((None,) * 3, (LARGE, LARGE, None))),
    Case("trains all three depths", "no", SWAPPED),
    Case("trains all three depths", "no", NOTHING),
    Case("does not diminish", "yes", PAPER),
    Case("does not diminish", "yes", given((None,) * 3, (SMALL, LARGE, (1e-6, 0.1)))),
    Case("does not diminish", "partly", given((None,) * 3, (LARGE, LARGE, (1e-3, 0.05)))),
    Case("does not diminish", "partly", given((None,) * 3, (LARGE, LARGE, (1e-7, 0.01)))),
    Case("does not diminish", "no", given((None,) * 3, (LARGE, (1e-4, 0.01), (1e-4, 1e-3)))),
    Case("does not diminish", "no", given((None,) * 3, (None, LARGE, LARGE))),
    Case("does not diminish", "no", NOTHING),
    Case("higher learning rates", "yes", PAPER),
    Case("higher learning rates", "partly", given((LARGE, None, None), (LARGE, LARGE, LARGE))),
    Case("higher learning rates", "no", SWAPPED),
    Case("higher learning rates", "no", NOTHING),
]
