"""A model of JAX as a pure function of its leaves: what adapters of libraries make, and what is traced.

Libraries keep parameters in many ways, but every model comes down to a function of arrays. An adapter lists the arrays
(`Leaf`), says what their users call them, and gives the function (`Program.call`). Nothing else in the front end asks
which library a model is from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]


def _nowhere(stack: str) -> str | None:
    return None


def _as_it_is(module: Any) -> Any:
    return module


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array of the model: a parameter, or state (batch statistics, counts)."""

    name: str
    """Its path, as its users know it and as plans name it."""
    module: str
    """The path of the module that owns it: calls that read it are listed there."""
    shape: Shape
    dtype: str
    trainable: bool
    parameter: bool
    """False: state, which is data with the values that it has now."""
    array: Callable[[], NDArray[Any] | None]
    """Its values; None if it is abstract."""
    aliases: tuple[str, ...] = ()
    """Other names of the same parameter. A leaf is listed once, under its first name."""
    unknown: float = 0.0
    """What state without values counts as: 1 for a variance that was never measured."""

    def values(self) -> NDArray[Any] | None:
        """As an array of NumPy, whatever its type; state without values is full of `unknown`."""
        array = self.array()
        if array is None and not self.parameter:
            return np.full(self.shape, self.unknown)
        return array


@dataclass(frozen=True, slots=True)
class Program:
    """A model that may be called as often as one likes: a call changes nothing."""

    name: str
    """Of the model, for the plan."""
    leaves: tuple[Leaf, ...]
    """In the order in which `call` takes their values."""
    call: Callable[[Sequence[Any], Any, Any], Any]
    """call(values of the leaves, inputs, key): the outputs. Values and arrays of the inputs may be tracers; `inputs`
    has the structure that the user gave. `key` is a typed key (`jax.random.key`) that no leaf is: whatever the model
    draws comes from it (by `jax.random.fold_in` or `split`), and is chance for a plan. Training or not is decided."""
    place: Callable[[str], str | None] = _nowhere
    """From the name stack of an op (``Net/Dense_0``) to the module that runs, as plans name modules; None: not known by
    the stack, and the module is the one that owns the parameters of the call."""
    unbound: Callable[[Any], Any] = _as_it_is
    """A module without what a call binds it to, as a rule of the user's is given it."""
