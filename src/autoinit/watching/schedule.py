"""At which steps to look."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import OptionError

USUAL = (0, 1, 10, 100)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Named steps, the first ones, every n-th one: whatever of it is given, together."""

    steps: frozenset[int]
    every: int | None = None

    def due(self, step: int, after: int) -> bool:
        """Whether a chosen step is among those after `after` up to `step` (loops may report several at once)."""
        if any(after < chosen <= step for chosen in self.steps):
            return True
        return self.every is not None and step // self.every > after // self.every

    def over(self, step: int) -> bool:
        """Whether no chosen step comes after `step`."""
        return self.every is None and all(chosen <= step for chosen in self.steps)


def schedule(steps: Iterable[int] | None = None, first: int | None = None, every: int | None = None) -> Schedule:
    """As `watch` takes it; the usual steps if nothing is given."""
    if steps is None and first is None and every is None:
        steps = USUAL
    chosen = () if steps is None else (steps,) if isinstance(steps, int) else tuple(steps)
    for step in chosen:
        if not _whole(step) or step < 0:
            raise OptionError("'steps' takes step numbers, 0 being the first", where="option 'steps'",
                              received=repr(step), fix="steps=(0, 1, 10, 100)")  # fmt: skip
    for name, value in (("first", first), ("every", every)):
        if value is not None and (not _whole(value) or value < 1):
            raise OptionError(f"'{name}' takes a positive integer", where=f"option '{name}'", received=repr(value),
                              fix=f"{name}=10")  # fmt: skip
    return Schedule(frozenset((*chosen, *range(first or 0))), every)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
