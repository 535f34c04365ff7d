"""Reductions over whole axes: mean, sum, max, min, prod, var, std, norm, logsumexp, any, all; and running ones.

Those of whole axes are worked out with these kept at size 1, and reshaped afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..core.gaussian.expression import apply
from ..core.gaussian.softmax_moments import logsumexp_moments
from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import Totals, at_same, averaged_over, mapped_along, remaining, running
from ..core.signal.positive import exponential, is_nonnegative, mapped, shifted, sign_of, signed
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal, constant
from ..core.signal.window_maximum import Window, maximum_over
from .attention import logsumexp_covariance
from .pool import absolute_power, root
from .registry import Context, rule
from .shape import reshaped

Axes = tuple[int, ...]
MOST_PLACES = 8
"""Places along an axis at which running products and extremes are worked out."""


@rule("reduce")
def reduce(node: Node, ctx: Context, x: Signal) -> Signal:
    """One number of n entries. Mean: m' = m, K'(S) = K(S, same)/n + (1 - 1/n) K(S, other); the sum is n times that.

    Variance: n/(n - correction) (mean of d^2 - (mean of d)^2), d = x - m, and its root. Extremes: as of windows. Norms:
    (sum |x|^p)^(1/p). Product: over independent parts of the pairs. Logsumexp: what all entries share, plus that of the
    rest, taken as independent. Any and all: extremes of x != 0.
    """
    axes: Axes = tuple(node.attrs.get("axes") or range(x.ndim))
    return reshaped(_reduced(node, x, node.attrs["kind"], axes), node.outputs[0].shape)


def _reduced(node: Node, x: Signal, kind: str, axes: Axes) -> Signal:
    """The reduction with its axes kept at size 1."""
    n = int(np.prod([x.shape[a] for a in axes])) if axes else 1
    if n == 0:
        return constant(_kept(x, axes), 0.0)
    if kind in ("mean", "sum"):
        return mean_over(x, axes).scaled(float(n)) if kind == "sum" else mean_over(x, axes)
    if kind in ("max", "min"):
        return _extreme(x, axes, smallest=kind == "min")
    if kind in ("any", "all"):
        true = Signal.function(x.source, apply("ne", x.expr, 0.0))
        return _extreme(true, axes, smallest=kind == "all")
    if kind in ("var", "std"):
        v = variance_over(x, axes, float(node.attrs.get("correction", 1) or 0))
        return mapped(v, "sqrt") if kind == "std" else v
    if kind == "norm":
        power = node.attrs.get("power")
        return _norm(x, axes, 2.0 if power is None else float(power))
    if kind == "logsumexp":
        return _logsumexp(x, axes, n)
    if kind == "prod":
        mean, K = x.mean, x.K
        for axis in axes:
            mean, K = product_along(mean, K, axis, x.shape[axis])
        return Signal(_kept(x, axes), mean, K)
    raise ValueError(f"no reduction named {kind!r}")


def _kept(x: Signal, axes: Axes) -> tuple[int, ...]:
    return tuple(1 if a in axes else n for a, n in enumerate(x.shape))


def _made(x: Signal, axes: Axes, mean: float, K: Array, *, positive: bool = False) -> Signal:
    """A reduction of x with these moments; `positive` ones are kept as exponentials."""
    profiles = tuple(None if a in axes else p for a, p in enumerate(x.profiles))
    return (exponential if positive and mean > 0.0 else Signal)(_kept(x, axes), mean, K, profiles=profiles)


def mean_over(x: Signal, axes: Axes) -> Signal:
    """The mean: K averaged over the axes. Positive if x is."""
    if _kept(x, axes) == x.shape:
        return x
    made = _made(x, axes, x.mean, averaged_over(x.K, axes, x.shape), positive=is_nonnegative(x))
    return made.but(deficiency=x.deficiency) if made.source is made else made


def variance_over(x: Signal, axes: Axes, correction: float) -> Signal:
    """The sample variance v = n/(n - correction) (mean of d^2 - (mean of d)^2), d = x - m.

    E[v] is exact. For its scatter, mean(d)^2 is treated as Gaussian squared: cov(mean d^2, mean(d)'^2) and
    cov(mean(d)^2, mean(d)'^2) are both 2 <C>(S)^2, so cov_v(S) = cov_(mean d^2)(S) - 2 <C>(S)^2, exact for
    Gaussian x.
    """
    n = float(np.prod([x.shape[a] for a in axes]))
    shape = _kept(x, axes)
    if n - correction <= 0.0 or x.variance <= 0.0:
        return constant(shape, 0.0)
    squares = Signal.function(x.source, apply("square", apply("sub", x.expr, x.mean)))
    common = averaged_over(x.covariance, axes, x.shape)
    level = squares.mean - float(common.flat[0])
    if level <= 1e-13 * squares.mean:
        return constant(shape, 0.0)
    scatter = averaged_over(squares.K, axes, x.shape) - squares.mean**2 - 2.0 * np.square(common)
    top = max(float(scatter.flat[0]), 0.0)
    gain = n / (n - correction)
    K = (level**2 + np.clip(scatter, -top, top)) * gain * gain
    return _made(x, axes, level * gain, K, positive=True)


def _norm(x: Signal, axes: Axes, power: float) -> Signal:
    if math.isinf(power):
        return _extreme(absolute_power(x, 1.0), axes, smallest=power < 0.0)
    n = float(np.prod([x.shape[a] for a in axes]))
    if power == 0.0:
        return mean_over(Signal.function(x.source, apply("ne", x.expr, 0.0)), axes).scaled(n)
    total = mean_over(absolute_power(x, power), axes).scaled(n)
    return total if power == 1.0 else root(total, power)


def _extreme(x: Signal, axes: Axes, *, smallest: bool) -> Signal:
    """The maximum or minimum over the axes."""
    shape = _kept(x, axes)
    if shape == x.shape:
        return x
    if x.is_constant:
        return constant(shape, x.mean)
    windows = [Window.whole(a, x.shape[a]) for a in axes if x.shape[a] > 1]
    mean, K = maximum_over(x, windows, smallest=smallest)
    return _made(x, axes, mean, at_same(K, axes), positive=is_nonnegative(x))


def _logsumexp(x: Signal, axes: Axes, n: int) -> Signal:
    """What all entries share shifts the result; the rest, taken as independent, is integrated exactly."""
    shape = _kept(x, axes)
    if n == 1:
        return x
    C = x.covariance
    same = at_same(C, axes)
    common = (averaged_over(C, axes, x.shape) - same / n) / (1.0 - 1.0 / n)
    own = same - common
    s = max(float(own.flat[0]), 0.0)
    if s <= 1e-14 * max(x.second, 1e-300):
        return shifted(Signal(shape, x.mean, same + x.mean**2), math.log(n))
    mean, variance = logsumexp_moments(n, s)
    level = x.mean + mean
    covariance = common + logsumexp_covariance(own, s, n, variance)
    return _made(x, axes, level, covariance + level * level)


def product_along(mean: float, K: Array, axis: int, n: int) -> tuple[float, Array]:
    """Moments of a product of n entries along one axis.

    Independent entries: m^n and K(S)^n. With correlation every pair of factors adds its ratio r = K(..a..)/m^2, as for
    log-normal factors: m^n r^(n(n-1)/2) and K(S)^n r(a)^(n(n-1)) r(S with a)^(n(n-1)).
    """
    if n == 1:
        return mean, K
    same, different = K_axes.same(K, axis), K_axes.different(K, axis)
    ratio: Array = np.zeros_like(different)
    if mean != 0.0 and bool(np.all(different > 0.0)):
        ratio = np.log(different / mean**2)
    first, pairs = float(ratio.flat[0]), n * (n - 1.0)
    power = _power(same, n, pairs * (first + ratio))
    return float(_power(np.array(mean), n, 0.5 * pairs * first, 300.0)), np.stack([power, power], axis=axis)


def _power(x: Array, n: int, more: Array | float = 0.0, most: float = 600.0) -> Array:
    """x^n exp(more), between exp(-690) and exp(most)."""
    log = n * np.log(np.maximum(np.abs(x), 1e-300)) + more
    return np.asarray(np.sign(x) ** n * np.exp(np.clip(log, -690.0, most)))


@rule("cumulative")
def cumulative(node: Node, ctx: Context, x: Signal) -> Signal:
    """y_t is the sum, product, maximum or minimum of the first t entries along an axis (or the sum of the others).

    Sums are linear along the axis, with a profile: E[y_t^2] = t K(same) + t (t - 1) K(different).
    """
    axis, kind = int(node.attrs["axis"]), node.attrs["kind"]
    n = x.shape[axis]
    if n <= 1:
        return x
    if kind == "sum":
        if node.attrs.get("remaining"):
            return signed(mapped_along(x, {axis: remaining}), sign_of(x))
        return RunningSum(x, axis, np.ones(n)).signal()
    places = sorted({round(t) for t in np.linspace(1, n, min(n, MOST_PLACES)).tolist()})
    if kind == "prod":
        return _running_product(x, axis, places)
    return _running_extreme(x, axis, places, smallest=kind == "min")


@dataclass(frozen=True, eq=False)
class RunningSum:
    """f_t times the sum of the first t entries; a factor per place that follows (1/t, for a mean) belongs to f."""

    x: Signal
    axis: int
    n: Array
    """The factors f."""

    def signal(self) -> Signal:
        def totals(q: Array) -> Totals:
            sums = running(q)
            later = np.cumsum(self.n[::-1])[::-1]
            return Totals(sums.squares * self.n**2, sums.rows * self.n, later * q)

        made = signed(mapped_along(self.x, {self.axis: totals}), sign_of(self.x))
        return made.but(placed=self)

    def scaled(self, factor: Array) -> Signal:
        return RunningSum(self.x, self.axis, self.n * factor).signal()


def _running_product(x: Signal, axis: int, places: list[int]) -> Signal:
    """Independent factors: E[P_t P'_t'] = K^min(t, t') m^|t - t'|."""
    same = K_axes.same(x.K, axis)
    first = np.mean([_power(same, t) for t in places], axis=0)
    other = np.mean([_power(same, min(t, u)) * x.mean ** abs(t - u) for t in places for u in places if t != u], axis=0)
    return Signal(x.shape, float(np.mean([x.mean**t for t in places])), np.stack([first, other], axis=axis))


def _running_extreme(x: Signal, axis: int, places: list[int], *, smallest: bool) -> Signal:
    """Extremes of t < t' entries agree when the larger set's extreme lies in the smaller one: chance t/t'.

    Otherwise they covary like the extremes of disjoint sets, through what all entries share.
    """
    moments = [maximum_over(x, [Window.whole(axis, t)] if t > 1 else [], smallest=smallest) for t in places]
    means = [m for m, _ in moments]
    agree = [K_axes.same(K, axis) - m * m for m, K in moments]
    apart = [K_axes.different(K, axis) - m * m for m, K in moments]
    first = np.mean([C + m * m for C, m in zip(agree, means, strict=True)], axis=0)
    others = []
    for i, t in enumerate(places):
        for j, u in enumerate(places):
            if i != j:
                less, chance = (i, t / u) if t < u else (j, u / t)
                others.append(means[i] * means[j] + chance * agree[less] + (1.0 - chance) * apart[less])
    K = np.stack([first, np.mean(others, axis=0)], axis=axis)
    return Signal(x.shape, float(np.mean(means)), K, profiles=x.profiles)
