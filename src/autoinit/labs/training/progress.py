"""How far a run is, and how long it will take."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Moment(NamedTuple):
    """What a listener is told after each step."""

    step: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float

    @property
    def seconds_left(self) -> float:
        """If the rest takes as long per step as what has passed."""
        return self.seconds / self.step * (self.steps - self.step)


Listener = Callable[[Moment], object]
