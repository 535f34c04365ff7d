"""Gaussian moments of elementwise expressions: E f, E f², E[f(u)f(v)] and E[u f(v)].

A single table function of a line in X uses its closed form. Everything else is integrated by adaptive
panels, and its pair moments follow from Hermite coefficients on the same nodes. Results are cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ..lazy import lazy
from .activations import FUNCTIONS
from .closed_forms import ClosedForm
from .expression import Expr, evaluate, is_constant, split
from .functions import Array, clamp
from .hermite import PairSeries, pair_series
from .panels import panel_marks
from .piecewise import PiecewiseLinear
from .quadrature import LARGEST, Quadrature, integrate

_CACHE_SIZE = 8192
Line = tuple[float, float]
Function = Callable[[Array], Array]


class Analysis:
    """The moments of f(u) for u ~ N(mean, var). `problem` says what is wrong with them, if anything."""

    mean: float
    second: float
    problem: str | None = None

    def __init__(self, mean: float, var: float, function: Function, marks: Callable[[], Sequence[float]] = list):
        self.source_mean, self.source_var = mean, var
        self._function, self._marks = function, marks

    @lazy
    def quadrature(self) -> Quadrature:
        mean, std = self.source_mean, math.sqrt(self.source_var)
        return integrate(lambda z: self._function(mean + std * z)[None], self._marks())

    @lazy
    def _series(self) -> PairSeries:
        return pair_series(self.quadrature, 0, 0, self.second)

    def integrated(self) -> Analysis:
        """With the moments of the quadrature."""
        self.mean = float(self.quadrature.mean()[0])
        self.second = float(self.quadrature.products()[0, 0])
        self.problem = self.quadrature.problem
        return self

    @lazy
    def variance(self) -> float:
        """Var f(u), computed about the mean when the two moments would cancel."""
        difference = self.second - self.mean * self.mean
        if self.source_var == 0.0 or difference > 1e-6 * self.second:
            return max(difference, 0.0)
        centred = self.quadrature.values[0] - self.quadrature.mean()[0]
        return float(self.quadrature.weight @ (centred * centred))

    def pair(self, cov: Array) -> Array:
        """E[f(u)f(v)] at every covariance of u and v."""
        cov = np.asarray(cov, dtype=np.float64)
        if self.source_var == 0.0:
            return np.full(cov.shape, self.second)
        return self._series(cov / self.source_var)

    @lazy
    def mean_slope(self) -> float:
        """E f', by Stein's lemma E[f(v)(v − m)] / var."""
        if self.source_var == 0.0:
            return 0.0
        return float(self.quadrature.hermite()[0, 1]) / math.sqrt(self.source_var)

    def cross(self, cov: Array) -> Array:
        """E[u f(v)] = m E f + cov E f' at every covariance of u and v."""
        inside = clamp(np.asarray(cov, dtype=np.float64), -self.source_var, self.source_var)
        return np.asarray(self.source_mean * self.mean + inside * self.mean_slope)

    @lazy
    def slope(self) -> float:
        """d log E f² / d log var = E[f² (z² − 1)] / (2 E f²)."""
        if self.source_var == 0.0:
            return 0.0 if self.second else 1.0
        if self.second <= 0.0:
            return 0.0
        q = self.quadrature
        return float((q.weight * (q.z * q.z - 1.0)) @ (q.values[0] ** 2) / (2.0 * self.second))


class _ClosedAnalysis(Analysis):
    """scale · f(factor · X + offset) + shift with a table function f that has a closed form."""

    def __init__(self, form: ClosedForm, line: Line, outer: Line, mean: float, var: float, function: Function,
                 marks: Callable[[], Sequence[float]]):  # fmt: skip
        super().__init__(mean, var, function, marks)
        self.form, (self.factor, offset), (self.scale, self.shift) = form, line, outer
        self.inner_mean, self.inner_std = self.factor * mean + offset, abs(self.factor) * math.sqrt(var)
        self.mean, self.second, self.usable = self._moments()

    def _moments(self, stretch: float = 1.0) -> tuple[float, float, bool]:
        """Mean and second moment where the standard deviation is stretched, and whether they did not cancel."""
        with np.errstate(all="ignore"):
            try:
                first, second = self.form.moments(self.inner_mean, self.inner_std * stretch)
            except OverflowError:
                return math.nan, math.nan, False
        mean, square = self.scale * first + self.shift, self.scale * self.scale
        made = square * second
        if self.shift:
            made = square * max(second - first * first, 0.0) + mean * mean
        usable = math.isfinite(mean) and math.isfinite(made) and (made >= 1e-6 * square * second or second == 0.0)
        return mean, made, usable

    def pair(self, cov: Array) -> Array:
        cov = clamp(np.asarray(cov, dtype=np.float64), -self.source_var, self.source_var)
        with np.errstate(all="ignore"):
            inner = self.form.pair(self.inner_mean, self.factor**2 * self.source_var, self.factor**2 * cov)
        if not np.isfinite(inner).all():
            return super().pair(cov)
        made = self.scale**2 * inner + self.shift * (2.0 * self.mean - self.shift)
        return np.where(cov >= self.source_var, self.second, made)

    @lazy
    def mean_slope(self) -> float:
        if isinstance(self.form, PiecewiseLinear):
            return self.scale * self.factor * self.form.mean_slope(self.inner_mean, self.inner_std)
        return float(self.quadrature.hermite()[0, 1]) / math.sqrt(self.source_var)

    @lazy
    def slope(self) -> float:
        """By a central difference of the closed form in log var."""
        step = 1e-4
        (_, up, _), (_, down, _) = self._moments(math.exp(0.5 * step)), self._moments(math.exp(-0.5 * step))
        return math.log(up / down) / (2.0 * step) if down > 0.0 and up < math.inf else 0.0


def _check(mean: float, var: float) -> None:
    if not (math.isfinite(mean) and math.isfinite(var) and var >= 0.0):
        raise ValueError(f"a Gaussian needs a finite mean and a finite variance ≥ 0, received {mean} and {var}")


def analyse(expr: Expr, mean: float, var: float) -> Analysis:
    """The moments of the expression for X ~ N(mean, var)."""
    return _analyse(expr, float(mean), float(var))


@lru_cache(maxsize=_CACHE_SIZE)
def _analyse(expr: Expr, mean: float, var: float) -> Analysis:
    _check(mean, var)
    std = math.sqrt(var)

    def function(x: Array) -> Array:
        return evaluate(expr, x)

    def marks() -> list[float]:
        return panel_marks(expr, mean, std)

    if mean + 0.1 * std == mean or is_constant(expr):
        return _point(mean, function)
    known = _closed_form(expr)
    if known is not None:
        closed = _ClosedAnalysis(*known, mean, var, function, marks)
        if closed.usable:
            return closed
    result = Analysis(mean, var, function, marks).integrated()
    if result.problem is not None:
        text = repr(expr)
        text = text if len(text) <= 80 else text[:77] + "..."
        result.problem = f"{text} of N({mean:.4g}, {var:.4g}): {result.problem}"
    return result


def _closed_form(expr: Expr) -> tuple[ClosedForm, Line, Line] | None:
    """A closed form f with expr = scale · f(factor · X + offset) + shift, and both lines."""
    if expr.line is not None:
        return PiecewiseLinear((), expr.line[:1], expr.line[1:]), (1.0, 0.0), (1.0, 0.0)
    inner, scale, shift = split(expr)
    if len(inner.args) != 1 or inner.args[0].line is None:
        return None
    closed = FUNCTIONS[inner.name].closed
    return None if closed is None else (closed(*inner.params), inner.args[0].line, (scale, shift))


def _point(place: float, function: Function) -> Analysis:
    result = Analysis(place, 0.0, function)
    value = float(function(np.array([place]))[0])
    result.mean = 0.0 if math.isnan(value) else min(max(value, -LARGEST), LARGEST)
    result.second = result.mean * result.mean
    if value != result.mean:
        result.problem = f"its value at {place:.4g} is {value:.4g}"
    return result


def analyse_callable(f: Function, mean: float, var: float, kinks: Sequence[float] = ()) -> Analysis:
    """The moments of any vectorised function for u ~ N(mean, var); not cached."""
    _check(mean, var)
    std = math.sqrt(var)

    def function(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(f(x), dtype=np.float64), x.shape)

    def marks() -> list[float]:
        exact = [(kink - mean) / std for kink in kinks]
        if std > 4.0:  # what happens about 0 happens on a scale of its own
            widths = [s * 4.0**n / std for n in range(40) for s in (-1.0, 1.0) if 4.0**n < std]
            exact = [centre + width for centre in [*exact, -mean / std] for width in (0.0, *widths)]
        return exact

    if var == 0.0:
        return _point(float(mean), function)
    return Analysis(float(mean), float(var), function, marks).integrated()


def cross_moments(f: Expr, g: Expr, mean: float, var: float, cov: Array) -> Array:
    """E[f(u)g(v)] for jointly Gaussian u and v of a common mean and variance, at every covariance of them."""
    cov = clamp(np.asarray(cov, dtype=np.float64), -var, var)
    if f is g:
        return analyse(f, mean, var).pair(cov)
    for line, other in ((g.line, f), (f.line, g)):
        if line is not None:
            found = analyse(other, mean, var)
            return np.asarray(line[0] * found.cross(cov) + line[1] * found.mean)
    if var == 0.0:
        return np.full(cov.shape, analyse(f, mean, var).mean * analyse(g, mean, var).mean)
    return _cross_series(f, g, float(mean), float(var))(cov / var)


@lru_cache(maxsize=_CACHE_SIZE // 4)
def _cross_series(f: Expr, g: Expr, mean: float, var: float) -> PairSeries:
    _check(mean, var)
    std = math.sqrt(var)
    marks = panel_marks(f, mean, std) + panel_marks(g, mean, std)
    both = integrate(lambda z: np.stack([evaluate(f, mean + std * z), evaluate(g, mean + std * z)]), marks)
    return pair_series(both, 0, 1, float(both.products()[0, 1]))
