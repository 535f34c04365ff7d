"""Every initialization by name: the recipe for training against AutoInit without it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.recipe import TRAINED
from tests.experiments.cases.made_up import Case, made_up

DEEP = "ResNet-56, no norm"


def given(recipe: float | str | None, deep: float | str | None) -> Callable[[], dict[str, Any]]:
    """All others reach 0.6."""

    def reached(payload: Any) -> float | str | None:
        at = payload["at"]
        return (deep if at["network"] == DEEP else recipe) if at["scheme"] == TRAINED else 0.6

    return lambda: made_up("initializations", reached)


CASES = [
    Case("recipe for training", "yes", given(0.7, 0.595)),
    Case("recipe for training", "no", given(0.7, 0.5)),
    Case("recipe for training", "no", given(None, None)),
    Case("recipe for training", "incomplete", given(0.7, "memory")),
]
