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
from .integrals import analyse
from .quadrature import integrate

Values = Callable[[NDArray[np.float64]], Any]

FINE = np.linspace(-9.0, 9.0, 3601)
"""Edges of panels so narrow that a kink inside of one does not count."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
SAME = 1e-5


def gaussian_mean(values: Values, mean: float = 0.0, variance: float = 1.0) -> float:
    """By the adaptive quadrature; where values have single precision, whose noise it would chase, by fixed panels."""
    std = sqrt(variance)
    places = mean + std * np.linspace(-3.0, 3.0, 13)
    probe = _values(values, places)
    if not np.allclose(_values(values, places[:5]), probe[:5], SAME, SAME, equal_nan=True):
        raise OptionError("an activation acts on every entry by itself", where="centered",
                          received="values that depend on their neighbours",
                          fix="give a function of one number")  # fmt: skip
    if probe.dtype == np.float64:
        found = integrate(lambda z: _values(values, mean + std * z)[None], [])
        result, problem = float(found.mean()[0]), found.problem
    else:
        half = 0.5 * np.diff(FINE)[:, None]
        z = 0.5 * (FINE[1:] + FINE[:-1])[:, None] + half * NODES
        weight = half * WEIGHTS * np.exp(-0.5 * z * z) / sqrt(2.0 * np.pi)
        result, problem = float(weight.ravel() @ _values(values, mean + std * z.ravel()).astype(np.float64)), None
    return _checked(result, problem)


def table_mean(name: str, mean: float = 0.0, variance: float = 1.0) -> float:
    """The same of a function of the core's table, with its default parameters: in closed form where there is one."""
    function = FUNCTIONS.get(name)
    if function is None or function.arity != 1:
        raise OptionError("no such function of one argument", where="centered", received=repr(name),
                          fix="a name of core.gaussian.activations.FUNCTIONS, or the function itself")  # fmt: skip
    found = analyse(apply(name, X, params=function.with_defaults(())), mean, variance)
    return _checked(float(found.mean), found.problem)


def _values(values: Values, x: NDArray[np.float64]) -> NDArray[Any]:
    made = np.asarray(values(x))
    if made.shape != x.shape:
        raise OptionError("an activation gives one number for each", where="centered",
                          received=f"shape {made.shape} for shape {x.shape}",
                          fix="give a function of one number")  # fmt: skip
    return made if made.dtype.kind == "f" else made.astype(np.float64)


def _checked(mean: float, problem: str | None) -> float:
    if problem is not None or not np.isfinite(mean):
        raise OptionError(f"the function has no mean there ({problem or mean})", where="centered",
                          received="a function that is not integrable",
                          fix="give another mean and variance of its input, or another function")  # fmt: skip
    return mean
