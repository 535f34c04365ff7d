"""CoAtNet: accuracies of the rows of the table, with norm and without."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from experiments.transformers import DIVERGING, RECIPE, ROWS, SMALL, UNIT
from tests.experiments.cases.made_up import Case, made_up


def given(
    usual: float | str | None, with_norm: Mapping[str, float], fails: Collection[str] = (), settings: Any = None
) -> Callable[[], dict[str, Any]]:
    """`with_norm`: rows that differ from the usual accuracy (in these settings only); `fails`: rows without norm."""

    def reached(payload: Any) -> float | str | None:
        at = payload["at"]
        if at["setting"] == "w/o norm":
            return None if at["row"] in fails else with_norm.get(at["row"], usual)
        return usual if settings and at["setting"] not in settings else with_norm.get(at["row"], usual)

    return lambda: made_up("transformers", reached)


OURS = {SMALL: 0.72, UNIT: 0.71, RECIPE: 0.75}
PAPER = given(0.6, OURS, DIVERGING)
BEHIND = given(0.6, {SMALL: 0.5, UNIT: 0.55}, [UNIT])
CHANCE = given(None, {})
GUESSING = given(0.1, {SMALL: 0.112, UNIT: 0.111})
ONE = given(0.6, {SMALL: 0.7, UNIT: 0.5}, settings=("GELU",))

BEST, DEFAULT, STABLE, SMALLER = "best of eight", "outperforms the default", "without norm", "ν = 0.01 is better"
CASES = [
    Case("recipe for training", "yes", PAPER),
    Case("recipe for training", "yes", given(0.6, {UNIT: 0.605, RECIPE: 0.6})),
    Case("recipe for training", "partly", given(0.6, {UNIT: 0.65, RECIPE: 0.7}, [RECIPE])),
    Case("recipe for training", "no", given(0.6, OURS, [RECIPE], ("GELU",))),
    Case("recipe for training", "no", given(0.6, {UNIT: 0.65})),
    Case(BEST, "yes", given("memory", {row: 0.7 if row in OURS else 0.6 for row in ROWS if row != RECIPE})),
    Case(BEST, "yes", PAPER),
    Case(BEST, "yes", given(0.6, OURS, [UNIT], ("GELU", "ReLU", "Swish"))),
    Case(BEST, "partly", ONE),
    *(Case(claim, "no", case) for claim in (BEST, DEFAULT, STABLE, SMALLER) for case in (BEHIND, CHANCE, GUESSING)),
    Case(DEFAULT, "yes", PAPER),
    Case(DEFAULT, "partly", given(0.6, OURS, [UNIT])),
    Case(DEFAULT, "no", ONE),
    Case(STABLE, "yes", PAPER),
    Case(STABLE, "yes", given(0.6, OURS, set(ROWS) - {UNIT})),
    Case(STABLE, "partly", given(0.6, OURS, ["Default"])),
    *(Case(STABLE, "partly", given(0.6, OURS, set(DIVERGING) - {row})) for row in DIVERGING),
    Case(STABLE, "no", given(0.6, OURS, ["Glorot normal", SMALL])),
    Case(STABLE, "no", given(0.6, OURS, [*DIVERGING, UNIT])),
    Case(SMALLER, "yes", PAPER),
    Case(SMALLER, "partly", given(0.6, OURS, settings=("GELU", "ReLU"))),
]
