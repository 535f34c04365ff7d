"""Reductions over whole axes: mean, sum, max, min, prod, var, std, norm, logsumexp, any, all.

All are worked out with the reduced axes kept at size 1, and reshaped afterwards.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.gaussian.expression import apply
from ..core.gaussian.softmax_moments import logsumexp_moments
from ..core.graph.graph import Node
from ..core.signal.axis_maps import averaged_over
from ..core.signal.positive import exponential, is_nonnegative, mapped, shifted
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal, constant
from ..core.signal.window_maximum import Window, maximum_over
from .attention import logsumexp_covariance
from .pool import absolute_power
from .registry import Context, rule
from .shape import reshaped

Axes = tuple[int, ...]


@rule("reduce")
def reduce(node: Node, ctx: Context, x: Signal) -> Signal:
    """Dispatch on the kind; the result has the node's shape."""
    a = node.attrs
    axes: Axes = tuple(a.get("axes") or range(x.ndim))
    kind = a["kind"]
    kept = reduced(x, kind, axes, power=a.get("power"), correction=float(a.get("correction", 1) or 0))
    return reshaped(kept, node.outputs[0].shape)


def reduced(x: Signal, kind: str, axes: Axes, *, power: float | None = None, correction: float = 1.0) -> Signal:
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
        v = variance_over(x, axes, correction)
        return mapped(v, "sqrt") if kind == "std" else v
    if kind == "norm":
        return _norm(x, axes, 2.0 if power is None else float(power))
    if kind == "logsumexp":
        return _logsumexp(x, axes, n)
    if kind == "prod":
        mean, K = _product(x, axes)
        return Signal(_kept(x, axes), mean, K)
    raise ValueError(f"no reduction named {kind!r}")


def _kept(x: Signal, axes: Axes) -> tuple[int, ...]:
    return tuple(1 if a in axes else n for a, n in enumerate(x.shape))


def _profiles(x: Signal, axes: Axes) -> tuple[Array | None, ...]:
    return tuple(None if a in axes else p for a, p in enumerate(x.profiles))


def mean_over(x: Signal, axes: Axes) -> Signal:
    """The mean: K averaged over the axes. Positive if x is, and then kept as an exponential."""
    K = averaged_over(x.K, axes, x.shape)
    shape = _kept(x, axes)
    if shape == x.shape:
        return x
    if x.mean > 0.0 and is_nonnegative(x):
        return exponential(shape, x.mean, K, profiles=_profiles(x, axes))
    return Signal(shape, x.mean, K, profiles=_profiles(x, axes), deficiency=x.deficiency)


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
    return exponential(shape, level * gain, K, profiles=_profiles(x, axes))


def _norm(x: Signal, axes: Axes, power: float) -> Signal:
    if math.isinf(power):
        return _extreme(absolute_power(x, 1.0), axes, smallest=power < 0.0)
    n = float(np.prod([x.shape[a] for a in axes]))
    if power == 0.0:
        return mean_over(Signal.function(x.source, apply("ne", x.expr, 0.0)), axes).scaled(n)
    total = mean_over(absolute_power(x, power), axes).scaled(n)
    if power == 1.0:
        return total
    return mapped(total, "sqrt") if power == 2.0 else mapped(total, "power_scalar", params=(1.0 / power,))


def _extreme(x: Signal, axes: Axes, *, smallest: bool) -> Signal:
    """The maximum over the axes; the minimum is minus the maximum of minus x."""
    shape = _kept(x, axes)
    if shape == x.shape:
        return x
    if x.is_constant:
        return constant(shape, x.mean)
    windows = [Window.whole(a, x.shape[a]) for a in axes if x.shape[a] > 1]
    expr = apply("neg", x.expr) if smallest else x.expr
    mean, K = maximum_over(x, expr, windows)
    made_mean = -mean if smallest else mean
    if made_mean > 0.0 and is_nonnegative(x):
        return exponential(shape, made_mean, _at_same(K, axes), profiles=_profiles(x, axes))
    return Signal(shape, made_mean, _at_same(K, axes), profiles=_profiles(x, axes))


def _at_same(K: Array, axes: Axes) -> Array:
    for axis in axes:
        K = np.repeat(np.take(K, [0], axis=axis), 2, axis=axis)
    return K


def _logsumexp(x: Signal, axes: Axes, n: int) -> Signal:
    """What all entries share shifts the result; the rest, taken as independent, is integrated exactly."""
    shape = _kept(x, axes)
    if n == 1:
        return x
    C = x.covariance
    same = _at_same(C, axes)
    common = (averaged_over(C, axes, x.shape) - same / n) / (1.0 - 1.0 / n)
    own = same - common
    s = max(float(own.flat[0]), 0.0)
    if s <= 1e-14 * max(x.second, 1e-300):
        return shifted(Signal(shape, x.mean, same + x.mean**2), math.log(n))
    mean, variance = logsumexp_moments(n, s)
    level = x.mean + mean
    covariance = common + logsumexp_covariance(own, s, n, variance)
    return Signal(shape, level, covariance + level * level, profiles=_profiles(x, axes))


def _product(x: Signal, axes: Axes) -> tuple[float, Array]:
    """Moments of a product over the axes, one axis after the other.

    Independent entries: m^n and K(S)^n. With correlation every pair of factors adds its ratio r =
    K(..a..)/m^2, as for log-normal factors: m^n r^(n(n-1)/2) and K(S)^n r(a)^(n(n-1)) r(S with a)^(n(n-1)).
    """
    mean, K = x.mean, x.K
    for axis in axes:
        mean, K = product_along(mean, K, axis, x.shape[axis])
    return mean, K


def product_along(mean: float, K: Array, axis: int, n: int) -> tuple[float, Array]:
    """Moments of a product of n entries along one axis (see `_product`)."""
    if n == 1:
        return mean, K
    same, different = np.take(K, 0, axis=axis), np.take(K, 1, axis=axis)
    square = mean * mean
    logs = n * np.log(np.maximum(np.abs(same), 1e-300))
    sign = np.sign(same) ** n
    log_mean = n * math.log(max(abs(mean), 1e-300))
    if square > 0.0 and bool(np.all(different > 0.0)):
        ratio = np.log(different / square)
        pairs = n * (n - 1.0)
        log_mean += 0.5 * pairs * float(ratio.flat[0])
        logs = logs + pairs * (float(ratio.flat[0]) + ratio)
    power = sign * np.exp(np.clip(logs, -690.0, 600.0))
    made = float(np.sign(mean) ** n * np.exp(np.clip(log_mean, -690.0, 300.0))) if mean != 0.0 else 0.0
    return made, np.stack([power, power], axis=axis)
