"""Gaussian moments of derivatives: E[f'(u) f'(v)] of elementwise expressions.

The derivative of a piecewise linear function is a step function, whose moments are closed; all others are central
differences, integrated between the kinks.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from .activations import FUNCTIONS
from .expression import Expr, X, evaluate, split
from .functions import Array
from .integrals import Analysis, analyse_callable
from .panels import panel_marks
from .piecewise import PiecewiseLinear

_STEP = 1e-5


class Slopes:
    """f'(e(u)) for u ~ N(mean, var): f a function of what e makes of the source."""

    def __init__(self, f: Expr, inner: Expr, mean: float, var: float) -> None:
        self.f, self.inner, self.mean, self.var = f, inner, mean, var

    def at(self, values: Array) -> Array:
        """f' at values of its argument."""
        if self.f.line is not None:
            return np.full(np.shape(values), self.f.line[0])
        step = _STEP * np.maximum(np.abs(values), max(math.sqrt(self.var), 1e-150))
        made = (evaluate(self.f, values + step) - evaluate(self.f, values - step)) / (2.0 * step)
        return np.where(np.isfinite(made), made, 0.0)

    @property
    def second(self) -> float:
        """E[f'^2]."""
        return float(self._plain.second)

    @property
    def first(self) -> float:
        """E[f']."""
        return float(self._plain.mean)

    def pair(self, cov: Array) -> Array:
        """E[f'(u) f'(v)] at every covariance of the source."""
        return np.asarray(self._plain.pair(np.clip(cov, -self.var, self.var)), float)

    @property
    def _plain(self) -> Analysis | Step:
        return _step(self) or _analysis(self.f, self.inner, self.mean, self.var)


class Step:
    """The derivative of a piecewise linear function of a line."""

    def __init__(self, form: PiecewiseLinear, factor: float, mean: float, var: float) -> None:
        self.form, self.factor, self.inner_mean, self.var = form, factor, mean, var
        self.mean, self.second = form.moments(mean, abs(factor) * math.sqrt(var))

    def pair(self, cov: Array) -> Array:
        scale = self.factor**2
        made = self.form.pair(self.inner_mean, scale * self.var, scale * cov)
        return np.where(cov >= self.var, self.second, made)


def _step(slopes: Slopes) -> Step | None:
    core, scale, _ = split(slopes.f)
    if slopes.inner is not X or slopes.var <= 0.0 or len(core.args) != 1 or core.args[0].line is None:
        return None
    closed = FUNCTIONS[core.name].closed
    form = None if closed is None else closed(*core.params)
    if not isinstance(form, PiecewiseLinear):
        return None
    factor, offset = core.args[0].line
    levels = tuple(scale * factor * s for s in form.slopes)
    steps = PiecewiseLinear(form.breaks, (0.0,) * len(levels), levels)
    return Step(steps, factor, factor * slopes.mean + offset, slopes.var) if factor else None


@lru_cache(maxsize=4096)
def _analysis(f: Expr, inner: Expr, mean: float, var: float) -> Analysis:
    slopes, std = Slopes(f, inner, mean, var), math.sqrt(var)

    def function(u: Array) -> Array:
        return slopes.at(evaluate(inner, u))

    marks = [*panel_marks(f, mean, std), *panel_marks(inner, mean, std)] if std > 0.0 else []
    return analyse_callable(function, mean, var, [mean + std * z for z in marks])
