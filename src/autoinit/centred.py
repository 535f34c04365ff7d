"""One centred activation: f(x) - E f(u) for a Gaussian u."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from .core.gaussian.activations import FUNCTIONS
from .core.gaussian.mean_of_values import gaussian_mean, table_mean
from .errors import OptionError
from .frontends.choice import front_ends


class CenteredFunction:
    """f(x) - shift, of arrays or tensors of any framework that f takes."""

    def __init__(self, function: Callable[..., Any], shift: float) -> None:
        self.function, self.shift = function, float(shift)

    def __call__(self, x: Any) -> Any:
        return self.function(x) - self.shift

    def __repr__(self) -> str:
        return f"CenteredFunction({getattr(self.function, '__name__', self.function)}, shift={self.shift:.4g})"


def centered(activation: Any, mean: float = 0.0, variance: float = 1.0) -> Any:
    """The activation with its mean taken off, for inputs of this mean and variance.

    activation: a torch.nn.Module or Keras layer that acts on every entry by itself (a centred copy is returned), a
        Keras activation (a `Centered` that Keras saves), any other function of arrays or tensors, or a name of the
        core's table such as "gelu" (functions of NumPy arrays).

    The number taken off is E f(u), u ~ N(mean, variance). For whole models, with the mean and variance that really
    come in: ``autoinit.plan(model, inputs, center="activation")``.
    """
    for name, value, least in (("mean", mean, float("-inf")), ("variance", variance, 0.0)):
        if not isinstance(value, (int, float)) or not isfinite(value) or value < least:
            raise OptionError(f"'{name}' takes a finite number{', not below zero' if least == 0 else ''}",
                              where="centered", received=repr(value), fix=f"{name}={float(least == 0)}")  # fmt: skip
    if isinstance(activation, str):
        shift = table_mean(activation, mean, variance)
        return CenteredFunction(TableFunction(activation), shift)
    for front_end in front_ends():
        made = front_end.centred_activation(activation, float(mean), float(variance))
        if made is not None:
            return made
    if not callable(activation):
        raise OptionError("an activation is a module, a layer, a function or a name", where="centered",
                          received=repr(activation), fix="autoinit.centered(torch.nn.GELU())")  # fmt: skip
    return CenteredFunction(activation, gaussian_mean(_values_of(activation), mean, variance))


class TableFunction:
    """A function of the core's table with its default parameters."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, x: Any) -> Any:
        function = FUNCTIONS[self.__name__]
        return function.fn(x, *function.defaults)


def _values_of(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """The function on NumPy arrays: as it is, or on the tensors of a framework that it takes."""
    candidates = [function, *(front_end.on_arrays(function) for front_end in front_ends())]
    errors = []
    for candidate in candidates:
        try:
            candidate(np.linspace(-1.0, 1.0, 3))
        except Exception as error:
            errors.append(error)
        else:
            return candidate
    raise OptionError(f"the function cannot be called: {type(errors[-1]).__name__}: {errors[-1]}", where="centered",
                      received=repr(function), fix="give a function of arrays or tensors") from errors[-1]  # fmt: skip
