"""Putting a plan into a model, the same way in every framework: all of it, or nothing.

What can be found out beforehand is: names, shapes, whatever the framework minds. Then the old values are copied, and
only then the new ones are written; whatever goes wrong from there on is undone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from ..core.plan.plan import CenterPlan, ParameterPlan, PartPlan, PlanData
from ..errors import PlanError
from .transaction import Transaction

P = TypeVar("P")
ANOTHER = "apply a plan to the model it was made for"


@dataclass(frozen=True)
class Step:
    """One write, and what takes it back: ready before anything is written, it may run twice or without the write."""

    name: str
    write: Callable[[], Any]
    put_back: Callable[[], Any] | None = None


def all_or_nothing(steps: Iterable[Step]) -> None:
    with Transaction() as writes:
        for step in steps:
            if step.put_back is not None:
                writes.undo(step.name, step.put_back)
            step.write()
            writes.breathe()


@dataclass(frozen=True)
class Write(Generic[P]):
    """A parameter that is written, and what the plan says of it."""

    entry: ParameterPlan
    parameter: P

    @property
    def centring(self) -> list[PartPlan]:
        """Biases that cancel the mean of what comes in: they need the weights that were drawn."""
        return [part for part in self.entry.parts if part.kind == "centre"]


W = TypeVar("W", bound=Write[Any])


class Application(ABC, Generic[P, W]):
    """A plan on its way into a model; a framework says how its parameters are looked at and written."""

    def __init__(self, plan: PlanData, seed: int, parameters: Mapping[str, P]) -> None:
        self.plan, self.seed, self.parameters = plan, seed, parameters

    def run(self) -> list[W]:
        """Do it; returns what was written."""
        for entry in self.plan.changed():
            for parameter in self.under(entry):
                self.refuse(entry, parameter)
            for part in entry.parts:
                if part.kind == "centre":
                    self.there(self.plan.parameter(part.of), self.parameters.get(part.of))
        writes = [
            self.write_of(entry, parameter)
            for entry in self.plan.changed()
            for parameter in self.under(entry)
            if not self.is_frozen(parameter)
        ]
        first, last = self.first(writes), self.last()
        put_back = [self.held(write) for write in writes]
        all_or_nothing([
            *first,
            *(Step(w.entry.name, partial(self.draw, w), back) for w, back in zip(writes, put_back, strict=True)),
            *(Step(w.entry.name, partial(self.centre, w)) for w in writes if w.centring),
            *last,
        ])  # fmt: skip
        return writes

    def under(self, entry: ParameterPlan) -> list[P]:
        """The parameter; several, if it had several names when it was planned and the model has it no longer tied."""
        found = {id(p): p for p in map(self.parameters.get, (entry.name, *entry.aliases)) if p is not None}
        return list(found.values()) or [self.there(entry, None)]

    def there(self, entry: ParameterPlan, parameter: P | None) -> P:
        """The parameter, or an error: it has to have the planned shape."""
        if parameter is None:
            raise PlanError("the model has no parameter of that name", where="Plan.apply", received=entry.name,
                            fix=ANOTHER)  # fmt: skip
        shape = self.shape(parameter)
        if shape is None or list(shape) != list(entry.shape):
            found = "no shape yet (lazy)" if shape is None else str(tuple(shape))
            raise PlanError("the parameter has another shape than in the plan", where=entry.name,
                            received=f"{found}, planned {tuple(entry.shape)}",
                            fix="make a new plan for this model")  # fmt: skip
        return parameter

    def refuse(self, entry: ParameterPlan, parameter: P) -> None:
        """Raise if the parameter is not the planned one, or cannot hold what is planned for it."""
        self.there(entry, parameter)

    @abstractmethod
    def shape(self, parameter: P) -> Sequence[int] | None:
        """None: not known yet."""

    @abstractmethod
    def is_frozen(self, parameter: P) -> bool:
        """Whether the parameter is left alone."""

    @abstractmethod
    def write_of(self, entry: ParameterPlan, parameter: P) -> W:
        """What is needed to write the parameter, found out beforehand."""

    @abstractmethod
    def held(self, write: W) -> Callable[[], Any]:
        """Copy the present values; returns what puts them back, without needing memory."""

    @abstractmethod
    def draw(self, write: W) -> None:
        """Write the new values."""

    @abstractmethod
    def centre(self, write: W) -> None:
        """Write the biases that cancel a mean, from the weights as they are now."""

    def first(self, writes: list[W]) -> list[Step]:
        """What else is written, before the parameters."""
        return []

    def last(self) -> list[Step]:
        """What else is written, after the parameters: activations that are centred."""
        return []


def another_activation(center: CenterPlan, found: str) -> PlanError:
    return PlanError("the model has another activation there than in the plan", where=center.place,
                     received=f"{found}, planned {center.function}", fix=ANOTHER)  # fmt: skip
