"""One array of a model as it is read and written; and what a model of any library is to the front end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from .abstract import Made
from .names import is_number, modules_of, named_leaves, owner
from .program import Leaf, Program

Array = Any
"""A `jax.Array`, an array of NumPy, or a `jax.ShapeDtypeStruct`."""


@dataclass(slots=True, eq=False)
class Held:
    """An array of the model, by its name."""

    name: str
    array: Array
    """The present one: put another one there, and `Adapted.holding` makes the model with it."""
    parameter: bool = True
    trainable: bool = True
    aliases: tuple[str, ...] = ()
    unknown: float = 0.0
    place: int = -1
    """Which leaf it is of the structure that its model was made as, if that is known (`Adapted.made`)."""
    constant: Callable[[], Any] | None = None
    """Of an abstract array: the value that the model's constructor gives it, if that is known."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.array.shape)

    @property
    def dtype(self) -> Any:
        return self.array.dtype

    def values(self) -> NDArray[Any] | None:
        """As an array of NumPy; None if nobody knows them."""
        array = self.array
        if isinstance(array, (jax.ShapeDtypeStruct, jax.core.Tracer)):
            return None if self.constant is None else np.asarray(self.constant())
        return whole(array)

    def leaf(self) -> Leaf:
        return Leaf(self.name, owner(self.name), self.shape, str(self.dtype), self.trainable, self.parameter,
                    self.values, self.aliases, self.unknown)  # fmt: skip


def whole(array: Any) -> NDArray[Any]:
    """An array in this process's memory, wherever its pieces are."""
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        if array.is_fully_replicated:
            return np.asarray(array.addressable_data(0))
        from jax.experimental import multihost_utils

        return np.asarray(multihost_utils.process_allgather(array, tiled=True))
    return np.asarray(array)


class Adapted(ABC):
    """A model of one library. Nothing else in the front end asks which library it is from."""

    name: str
    arrays: Sequence[Held]
    """All of them, in the order in which a program takes their values."""
    made: Made | None = None
    """Where an abstract model comes from."""
    others: Sequence[Held] = ()
    """Arrays that no program takes and nobody plans, such as keys: an abstract model needs them, too."""

    def comes_from(self, made: Made | None, written: Callable[[str], str] = str) -> None:
        """The model is what a constructor makes; `written`: what an array is called in its structure."""
        self.made = made
        if made is None:
            return
        places = {name: k for k, (name, _) in enumerate(named_leaves(made.tree))}
        for held in (*self.arrays, *self.others):
            name = written(held.name)
            held.place, held.constant = places[name], made.constants.get(name)

    @abstractmethod
    def program(self, inputs: Any, training: bool) -> tuple[Program, Any]:
        """The model as a function of its arrays, and the inputs for it."""

    @abstractmethod
    def holding(self) -> Any:
        """The model with the arrays that are held now: a new one, or the user's own object written in place."""

    def changed(self, values: Mapping[str, Array]) -> Any:
        """A model like this one with other values: of a structure of parameters, by their paths there."""
        for held in self.arrays:
            for name in (held.name, f"params.{held.name}", f"{held.name}.value"):
                if name in values:
                    held.array = values[name]
        return self.rebuilt()

    def rebuilt(self) -> Any:
        """The model with the arrays that are held now, as the front end takes models."""
        return self.holding()

    def put(self, held: Held, array: Array) -> None:
        """Exchange an array."""
        held.array = array

    @property
    def parameters(self) -> dict[str, Held]:
        return {held.name: held for held in self.arrays if held.parameter}

    def modules(self) -> set[str]:
        return modules_of(name for held in self.arrays for name in (held.name, *held.aliases))

    def leaves(self) -> tuple[Leaf, ...]:
        return tuple(held.leaf() for held in self.arrays)


def held_array(name: str, array: Array) -> Held:
    """Of a structure of parameters: numbers are trained, integers and truth values are kept as they are."""
    number = is_number(array)
    return Held(name, array, parameter=number, trainable=number)
