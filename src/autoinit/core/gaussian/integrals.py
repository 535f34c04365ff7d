"""Gaussian moments of elementwise expressions: E f, E f², E[f(u)f(v)] and E[u f(v)].

A single table function of a line in X uses its closed form. Everything else is integrated by adaptive
panels, and its pair moments follow from Hermite coefficients on the same nodes. Results are cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from autoinit.core.gaussian.activations import FUNCTIONS, Function
from autoinit.core.gaussian.expression import Expr, evaluate
from autoinit.core.gaussian.functions import Array
from autoinit.core.gaussian.hermite import PairSeries, pair_series
from autoinit.core.gaussian.panels import panel_marks
from autoinit.core.gaussian.quadrature import Quadrature, integrate

from ..lazy import lazy

_CACHE_SIZE = 8192


class Analysis:
    """The moments of f(u) for u ~ N(mean, var). `problem` says what is wrong with them, if anything."""

    mean: float
    second: float
    problem: str | None

    def __init__(
        self,
        source_mean: float,
        source_var: float,
        function: Callable[[Array], Array],
        marks: Sequence[float],
    ):
        self.source_mean, self.source_var = source_mean, source_var
        self._function, self._marks = function, marks
        self.problem = None

    @lazy
    def quadrature(self) -> Quadrature:
        mean, std = self.source_mean, math.sqrt(self.source_var)
        return integrate(lambda z: self._function(mean + std * z)[None], self._marks)

    @lazy
    def _hermite(self) -> Array:
        return np.asarray(self.quadrature.hermite()[0])

    @lazy
    def _series(self) -> PairSeries:
        return pair_series(self.quadrature, 0, 0, self.second)

    def integrate(self) -> None:
        """Fill in the moments from the quadrature."""
        quadrature = self.quadrature
        self.mean = float(quadrature.mean()[0])
        self.second = float(quadrature.products()[0, 0])
        self.problem = quadrature.problem

    @lazy
    def variance(self) -> float:
        """Var f(u), computed about the mean when the two moments would cancel."""
        difference = self.second - self.mean * self.mean
        if self.source_var == 0.0 or difference > 1e-6 * self.second:
            return max(difference, 0.0)
        return self._central_variance()

    def _central_variance(self) -> float:
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
        return float(self._hermite[1]) / math.sqrt(self.source_var)

    def cross(self, cov: Array) -> Array:
        """E[u f(v)] = m E f + cov E f' at every covariance of u and v."""
        cov = np.asarray(cov, dtype=np.float64)
        clipped = np.clip(cov, -self.source_var, self.source_var)
        return np.asarray(self.source_mean * self.mean + clipped * self.mean_slope)

    @lazy
    def slope(self) -> float:
        """d log E f² / d log var = E[f² (z² − 1)] / (2 E f²)."""
        return self._slope_by_quadrature()

    def _slope_by_quadrature(self) -> float:
        if self.source_var == 0.0:
            return 0.0 if self.second else 1.0
        if self.second <= 0.0:
            return 0.0
        q = self.quadrature
        return float((q.weight * (q.z * q.z - 1.0)) @ (q.values[0] ** 2) / (2.0 * self.second))


class _ClosedAnalysis(Analysis):
    """A table function of a line, f(aX + b), scaled and shifted: α f + β."""

    def __init__(
        self,
        shape: _Single,
        mean: float,
        var: float,
        function: Callable[[Array], Array],
        marks: Sequence[float],
    ):
        super().__init__(mean, var, function, marks)
        self.shape = shape
        self.inner_mean = shape.factor * mean + shape.offset
        self.inner_std = abs(shape.factor) * math.sqrt(var)
        self.inner_var = shape.factor * shape.factor * var

    def try_closed(self) -> bool:
        inner = self.shape.moments(self.inner_mean, self.inner_std)
        if inner is None:
            return False
        self.inner = inner
        scale, shift = self.shape.scale, self.shape.shift
        first, second = inner
        self.mean = scale * first + shift
        self.second = scale * scale * second
        if shift:
            self.second = scale * scale * max(second - first * first, 0.0) + self.mean * self.mean
        if not (math.isfinite(self.mean) and math.isfinite(self.second)):
            return False
        return self.second >= 1e-6 * scale * scale * second or second == 0.0

    def pair(self, cov: Array) -> Array:
        cov = np.clip(np.asarray(cov, dtype=np.float64), -self.source_var, self.source_var)
        inner = self.shape.pair(self.inner_mean, self.inner_var, self.shape.factor**2 * cov)
        if inner is None:
            return super().pair(cov)
        scale, shift = self.shape.scale, self.shape.shift
        if shift:
            inner = scale * scale * inner + 2.0 * scale * shift * self.inner[0] + shift * shift
        else:
            inner = scale * scale * inner
        return np.where(cov >= self.source_var, self.second, inner)

    @lazy
    def mean_slope(self) -> float:
        pieces = self.shape.function.pieces
        if pieces is not None:
            slope = pieces(*self.shape.params).mean_slope(self.inner_mean, self.inner_std)
            return self.shape.scale * self.shape.factor * slope
        return float(self._hermite[1]) / math.sqrt(self.source_var)

    @lazy
    def slope(self) -> float:
        """By a central difference of the closed form in log var."""
        step = 1e-4
        seconds = []
        for change in (step, -step):
            moments = self.shape.moments(self.inner_mean, self.inner_std * math.exp(0.5 * change))
            if moments is None or moments[1] <= 0.0:
                break
            first, second = moments
            scale, shift = self.shape.scale, self.shape.shift
            seconds.append(scale * scale * second + 2.0 * scale * shift * first + shift * shift)
        if len(seconds) < 2 or min(seconds) <= 0.0:
            return self._slope_by_quadrature()
        return math.log(seconds[0] / seconds[1]) / (2.0 * step)


class _Single:
    """expr = scale · f(factor · X + offset) + shift with one table function f that has closed moments."""

    __slots__ = ("factor", "function", "offset", "params", "scale", "shift")

    def __init__(
        self,
        function: Function,
        params: tuple[float, ...],
        line: tuple[float, float],
        outer: tuple[float, float],
    ):
        self.function, self.params = function, params
        self.factor, self.offset = line
        self.scale, self.shift = outer

    def moments(self, mean: float, std: float) -> tuple[float, float] | None:
        if self.function.moments is None:
            return None
        try:
            return self.function.moments(mean, std, *self.params)
        except OverflowError:
            return None

    def pair(self, mean: float, var: float, cov: Array) -> Array | None:
        if self.function.pair is None:
            return None
        try:
            with np.errstate(all="ignore"):
                result = self.function.pair(mean, var, cov, *self.params)
        except OverflowError:
            return None
        return result if result is not None and bool(np.isfinite(result).all()) else None


def _single(expr: Expr) -> _Single | None:
    outer = (1.0, 0.0)
    if expr.name == "affine":
        outer, expr = (expr.params[0], expr.params[1]), expr.args[0]
    if len(expr.args) != 1 or expr.args[0].line is None:
        return None
    function = FUNCTIONS[expr.name]
    return _Single(function, expr.params, expr.args[0].line, outer) if function.moments is not None else None


def _point(value: float, mean: float, var: float, function: Callable[[Array], Array]) -> Analysis:
    result = Analysis(mean, var, function, ())
    if math.isfinite(value) and abs(value) < 1e60:
        result.mean, result.second = value, value * value
        return result
    finite = 0.0 if math.isnan(value) else math.copysign(min(abs(value), 1e60), value)
    result.mean, result.second = finite, finite * finite
    result.problem = f"its value at {mean:.4g} is {value:.4g}"
    return result


class _LineAnalysis(Analysis):
    """aX + b, and constants."""

    def __init__(self, factor: float, offset: float, mean: float, var: float, function: Callable[[Array], Array]):
        super().__init__(mean, var, function, ())
        self.factor = factor
        self.mean = factor * mean + offset
        self.second = self.mean * self.mean + factor * factor * var

    @lazy
    def variance(self) -> float:
        return self.factor * self.factor * self.source_var

    @lazy
    def mean_slope(self) -> float:
        return self.factor

    @lazy
    def slope(self) -> float:
        return self.variance / self.second if self.second else 0.0

    def pair(self, cov: Array) -> Array:
        cov = np.clip(np.asarray(cov, dtype=np.float64), -self.source_var, self.source_var)
        return np.asarray(self.mean * self.mean + self.factor * self.factor * cov)


def _check(mean: float, var: float) -> None:
    if not (math.isfinite(mean) and math.isfinite(var) and var >= 0.0):
        raise ValueError(f"a Gaussian needs a finite mean and a finite variance ≥ 0, received {mean} and {var}")


def analyse(expr: Expr, mean: float, var: float) -> Analysis:
    """The moments of the expression for X ~ N(mean, var)."""
    return _analyse(expr, float(mean), float(var))


@lru_cache(maxsize=_CACHE_SIZE)
def _analyse(expr: Expr, mean: float, var: float) -> Analysis:
    _check(mean, var)

    def function(x: Array) -> Array:
        return evaluate(expr, x)

    if expr.line is not None:
        factor, offset = expr.line
        line = _LineAnalysis(factor, offset, mean, var, function)
        if math.isfinite(line.second):
            return line
        return _point(line.mean, mean, var, function)
    std = math.sqrt(var)
    if mean + 0.1 * std == mean:
        return _point(float(evaluate(expr, np.array([mean]))[0]), mean, 0.0, function)
    marks = _Lazy(lambda: panel_marks(expr, mean, std))
    single = _single(expr)
    if single is not None:
        closed = _ClosedAnalysis(single, mean, var, function, marks)
        if closed.try_closed():
            return closed
    result = Analysis(mean, var, function, marks)
    result.integrate()
    if result.problem is not None:
        result.problem = f"{_describe(expr)} of N({mean:.4g}, {var:.4g}): {result.problem}"
    return result


class _Lazy(Sequence[float]):
    """A list that is made when it is first read."""

    def __init__(self, make: Callable[[], list[float]]):
        self._make = make

    @lazy
    def _items(self) -> list[float]:
        return self._make()

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)


def _describe(expr: Expr) -> str:
    text = repr(expr)
    return text if len(text) <= 80 else text[:77] + "..."


def analyse_callable(f: Callable[[Array], Array], mean: float, var: float, kinks: Sequence[float] = ()) -> Analysis:
    """The moments of any vectorised function for u ~ N(mean, var); not cached."""
    _check(mean, var)

    def function(x: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(f(x), dtype=np.float64), x.shape)

    if var == 0.0:
        return _point(float(function(np.array([float(mean)]))[0]), float(mean), 0.0, function)
    std = math.sqrt(var)
    features = [(kink - mean) / std for kink in kinks] + [-mean / std]
    exact = list(features)
    if std > 4.0:
        for centre in features:
            exact += [centre + s * 4.0**n / std for n in range(40) for s in (-1.0, 1.0) if 4.0**n < std]
    result = Analysis(float(mean), float(var), function, exact if std > 4.0 else exact[: len(kinks)])
    result.integrate()
    return result


class CrossAnalysis:
    """E[f(u)g(v)] for two expressions of jointly Gaussian u and v with a common mean and variance."""

    def __init__(self, f: Expr, g: Expr, mean: float, var: float):
        self.source_var = var
        self.first, self.second = analyse(f, mean, var), analyse(g, mean, var)
        self._series: PairSeries | None = None
        self._same = self.first if f is g else None
        self._line = None
        for line, other in ((f.line, self.second), (g.line, self.first)):
            if line is not None:
                self._line, self._other = line, other
        if var == 0.0 or self._same is not None or self._line is not None:
            return
        std = math.sqrt(var)
        marks = panel_marks(f, mean, std) + panel_marks(g, mean, std)
        both = integrate(lambda z: np.stack([evaluate(f, mean + std * z), evaluate(g, mean + std * z)]), marks)
        self._series = pair_series(both, 0, 1, float(both.products()[0, 1]))

    def pair(self, cov: Array) -> Array:
        """E[f(u)g(v)] at every covariance of u and v."""
        cov = np.clip(np.asarray(cov, dtype=np.float64), -self.source_var, self.source_var)
        if self._same is not None:
            return self._same.pair(cov)
        if self._line is not None:
            factor, offset = self._line
            return np.asarray(factor * self._other.cross(cov) + offset * self._other.mean)
        if self._series is None:
            return np.full(cov.shape, self.first.mean * self.second.mean)
        return self._series(cov / self.source_var)


def cross_analyse(f: Expr, g: Expr, mean: float, var: float) -> CrossAnalysis:
    """The joint moments of two expressions, E[f(u)g(v)] at any covariance including cov = var."""
    return _cross(f, g, float(mean), float(var))


@lru_cache(maxsize=_CACHE_SIZE // 4)
def _cross(f: Expr, g: Expr, mean: float, var: float) -> CrossAnalysis:
    _check(mean, var)
    return CrossAnalysis(f, g, mean, var)
