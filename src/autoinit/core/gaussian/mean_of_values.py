"""E f(u) for u ~ N(mean, variance), of a function that is known by its values alone."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import OptionError
from .activations import FUNCTIONS
from .expression import X, apply
from .integrals import analyse, analyse_callable
from .quadrature import normal_panels

Values = Callable[[NDArray[np.float64]], Any]

PANELS = np.linspace(-9.0, 9.0, 3601)
"""Edges of panels so narrow that a kink inside of one does not count."""
SAME = 1e-5


def gaussian_mean(values: Values, mean: float = 0.0, variance: float = 1.0) -> float:
    """By the adaptive quadrature; where values have single precision, whose noise it would chase, by fixed panels."""
    std = sqrt(variance)
    places = mean + std * np.linspace(-3.0, 3.0, 13)
    probe = _values(values, places)
    if not np.allclose(_values(values, places[:5]), probe[:5], SAME, SAME, equal_nan=True):
        raise _refusal("an activation acts on every entry by itself", "values that depend on their neighbours")
    if probe.dtype == np.float64:
        found = analyse_callable(lambda x: _values(values, x), mean, variance)
        return _checked(found.mean, found.problem)
    z, weight = normal_panels(PANELS, 8)
    return _checked(float(weight @ _values(values, mean + std * z).astype(np.float64)), None)


def table_mean(name: str, mean: float = 0.0, variance: float = 1.0) -> float:
    """The same of a function of the core's table, with its default parameters: in closed form where there is one."""
    function = FUNCTIONS.get(name)
    if function is None or function.arity != 1:
        raise _refusal("no such function of one argument", repr(name),
                       "a name of core.gaussian.activations.FUNCTIONS, or the function itself")  # fmt: skip
    found = analyse(apply(name, X), mean, variance)
    return _checked(found.mean, found.problem)


def _values(values: Values, x: NDArray[np.float64]) -> NDArray[Any]:
    made = np.asarray(values(x))
    if made.shape != x.shape:
        raise _refusal("an activation gives one number for each", f"shape {made.shape} for shape {x.shape}")
    return made if made.dtype.kind == "f" else made.astype(np.float64)


def _checked(mean: float, problem: str | None) -> float:
    if problem is not None or not np.isfinite(mean):
        raise _refusal(f"the function has no mean there ({problem or mean})", "a function that is not integrable",
                       "give another mean and variance of its input, or another function")  # fmt: skip
    return mean


def _refusal(message: str, received: str, fix: str = "give a function of one number") -> OptionError:
    return OptionError(message, where="centered", received=received, fix=fix)
