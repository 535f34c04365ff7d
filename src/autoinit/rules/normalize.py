"""Normalisation: batch, layer, instance, group, RMS, L2, and weight normalisation; known scales and shifts.

Write A for the axes a statistic is taken over and <K>(S) for K averaged over A (every pair of places, the
place itself included). The mean over A is linear, and E[x_i mean(x)_j] = E[mean(x)_i mean(x)_j] = <K>(S \\
A), so

    K_c(S) = K(S) - <K>(S \\ A)                   (x minus its mean over A)

and the statistic's expectation is V = K_c(0) (without centring: K itself). By construction of the normalised
value the mean of its square over A is s/(s + eps) exactly, whatever the scatter of the statistic s; the
moments of entries under one statistic are exact for Gaussian x, by a one-dimensional integral
(`gains_of_statistic`).

Between places with *different* statistics s, s' the ratio fluctuates: E[x x'/sqrt(s s')] is the expected
sample correlation of nu Gaussian pairs of true correlation rho,

    E[r] = rho (2/nu) (Gamma((nu+1)/2) / Gamma(nu/2))^2  2F1(1/2, 1/2; nu/2 + 1; rho^2),

where nu = 1 / sum_{T in A} w(T) (K_c(T)/K_c(0))^2 counts the independent entries under the statistic
(n - 1 for independent centred entries; w(T) is the share of pairs that differ on T).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from scipy import special

from ..core.gaussian.functions import clamp
from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import apart, at_same, averaged_over, levelled, placed, transform
from ..core.signal.broadcast import aligned
from ..core.signal.measured import from_array
from ..core.signal.merged_axes import fine_of, finely, merged
from ..core.signal.positive import shifted
from ..core.signal.profiles import Array, Profiles
from ..core.signal.samples import eigenvalues
from ..core.signal.signal import Signal, constant
from .registry import Context, rule

_MANY = 1000.0
_GRID = np.linspace(-30.0, 70.0, 1001)
_RISING, _STEP = np.exp(_GRID), _GRID[1] - _GRID[0]
"""Where `gains_of_statistic` integrates: log t, up to a constant."""
"""A statistic over this many independent entries is taken as certain (its scatter is below sqrt(2/1000))."""

_NOTHING = 1e-13
"""A statistic below this share of E[x^2] is rounding error: the signal does not vary over the axes."""


@rule("normalize")
def normalize(
    node: Node, ctx: Context, x: Signal, scale: Signal | None = None, shift: Signal | None = None,
    running_mean: Signal | None = None, running_var: Signal | None = None,
) -> Signal:  # fmt: skip
    """Divide by a statistic of the signal itself (or the running one), then scale and shift: y = g (x - mean) / s + b.

    Under one statistic K' = K_c(S) / (V + eps), corrected for its scatter; under different ones by E[r] as above.
    """
    a = node.attrs
    eps, channels = float(a.get("eps", 0.0)), tuple(a.get("channel_axes", ()))
    if a.get("use_running") and running_mean is not None and running_var is not None:
        y = _by_running_statistics(node, ctx, x, running_mean, running_var, channels, eps)
    else:
        groups = int(a.get("groups") or 0)
        y = by_own_statistics(x, tuple(a["axes"]), bool(a.get("centre", True)), eps, bool(a.get("l2", False)), groups,
                              channels[0] if groups else 1)  # fmt: skip
    return _affine(y, scale, shift, channels)


def by_own_statistics(
    x: Signal, axes: tuple[int, ...], centre: bool, eps: float, l2: bool = False, groups: int = 0, channel: int = 1
) -> Signal:
    """x normalised by its statistics over `axes`. With `groups`, axis `channel` is split and its inner part averaged
    too."""
    K, shape, over = x.K, x.shape, axes
    if groups:
        inner = x.shape[channel] // groups
        K = K_axes.split(K, channel, 2)
        shape = (*shape[:channel], groups, inner, *shape[channel + 1 :])
        over = tuple(sorted((channel + 1, *(i + (i > channel) for i in axes))))
    mean, K, factor = _normalised(K, x.mean, shape, over, centre, eps, l2)
    if groups:
        K = K_axes.merge(K, channel, (groups, inner))
    if factor == 0.0:
        return constant(x.shape, 0.0)
    kept = set(axes) | ({channel} if groups else set())
    profiles: Profiles = tuple(p if i in kept else None for i, p in enumerate(x.profiles))
    for i, p in enumerate(x.profiles):  # places with statistics of their own are brought to one scale
        if p is not None and i not in kept:
            K = levelled(K - mean * mean, i, p) + mean * mean
    made = Signal(x.shape, mean, K, profiles=profiles,
                  deficiency=x.deficiency, volatility=_steadied(x, (*axes, channel) if groups else axes))  # fmt: skip
    found = fine_of(x)
    if groups or found is None:
        return made
    over = tuple(i for axis in axes for i in found.groups[axis])
    sizes, lengths = found.signal.shape, [len(group) for group in found.groups]
    mean, K, _ = _normalised(found.signal.K, found.signal.mean, sizes, over, centre, eps, l2)
    return finely(made.having(made.mean, merged(K, sizes, lengths)), Signal(sizes, mean, K), lengths)


def _steadied(x: Signal, axes: tuple[int, ...]) -> Array | None:
    """Dividing by the mean variance over `axes` takes out the scatter that is common there: V(S) - <V>(S \\ A)."""
    V = x.volatility
    if V is None:
        return None
    steady = np.array(V - averaged_over(V, axes, x.shape))
    steady.flat[0] = max(float(np.max(steady.ravel()[1:], initial=0.0)), 0.0)  # each feature has one scale now
    return steady


def _normalised(
    K: Array, mean: float, shape: Sequence[int], axes: tuple[int, ...], centre: bool, eps: float, l2: bool
) -> tuple[float, Array, float]:
    """(mean, K) of the normalised array, and the factor that x - mean(x) is multiplied by."""
    n = float(prod(shape[i] for i in axes))
    level = float(K.flat[0])
    if centre:
        K = K - averaged_over(K, axes, shape)
        mean = 0.0
    V = float(K.flat[0])
    if not _NOTHING * level < V:
        return 0.0, np.zeros_like(K), 0.0
    axes = tuple(sorted(axes))
    over = tuple(shape[i] for i in axes)
    own = K[tuple(slice(None) if i in axes else 0 for i in range(K.ndim))]  # entries that differ within `axes` only
    nu = _degrees(own, mean, over)
    unit = 1.0 if not l2 else V / max(n * V, eps * eps)
    if nu > _MANY:
        gain = unit / V if l2 else 1.0 / (V + eps)
        return mean * float(np.sqrt(gain)), K * gain, float(np.sqrt(gain))
    gains, mean_out = gains_of_statistic((own - mean * mean).tobytes(), mean, over, 0.0 if l2 else eps)
    gains, mean_out = gains * unit, mean_out * float(np.sqrt(unit))
    table = eigen_along(eigen_along(K - mean * mean, axes, shape) * placed(gains, axes, K.ndim), axes, shape, back=True)
    floor = mean_out * mean_out
    power = float(table.flat[0]) + floor
    alike = (at_same(table, axes) + floor) / power
    return mean_out, table * _shrinkage(alike, nu) + floor, float(np.sqrt(power / V))


def eigen_along(K: Array, axes: tuple[int, ...], shape: Sequence[int], back: bool = False) -> Array:
    """Eigenvalues along `axes` (see `core.signal.samples`), the table kept along the others; or `back` from them."""
    for i in axes:
        n = shape[i]
        K = transform(K, i, np.array([[1.0, n - 1.0], [1.0, -1.0 if n > 1 else 0.0]]) / (n if back else 1))
    return K


@lru_cache(maxsize=4096)
def gains_of_statistic(table: bytes, mean: float, shape: tuple[int, ...], eps: float) -> tuple[Array, float]:
    """(gains, mean): what dividing by sqrt(s + eps), s = mean of x^2, does to eigenvalues and mean of x.

    The covariance has eigenvalues l_B with multiplicities d_B (see `core.signal.samples`), so for Gaussian x
    n s = sum_B l_B chi2(d_B). From 1/a = int exp(-a t) dt, the expected share of eigenspace B of the sum is

        E[l_B chi2(d_B) / (n s + n eps)] = int l_B d_B / (1 + 2 l_B t) phi(t) dt,
        phi(t) = prod_C (1 + 2 l_C t)^(-d_C/2) exp(-n eps t),

    and the gain is n times the share over l_B d_B. A mean m makes the constant eigenspace (eigenvalue l)
    noncentral: phi gains a factor exp(-n m^2 t / (1 + 2 l t)), the share a term n m^2 / (1 + 2 l t)^2, and by
    1/sqrt(a) = int exp(-a t) dt / sqrt(pi t) the new mean is int sqrt(n) m / (1 + 2 l t) phi(t) dt / sqrt(pi
    t).
    """
    n = float(prod(shape))
    C = np.frombuffer(table).reshape((2,) * len(shape))
    spread, d = np.maximum(eigenvalues(C, shape), 0.0).ravel(), n * K_axes.shares(shape)
    push, total = n * mean * mean, float(spread @ d) + n * mean * mean
    t = _RISING / total
    grown = 1.0 + np.multiply.outer(2.0 * spread, t)
    varies = spread > 0.0
    log_phi = -0.5 * (d[varies] @ np.log(grown[varies])) - n * eps * t
    if not push:
        return (n * _STEP * (1.0 / grown) @ (np.exp(log_phi) * t)).reshape(C.shape), 0.0
    phi = np.exp(log_phi - push * t / grown[0])
    gains = n * _STEP * (1.0 / grown) @ (phi * t)
    new_mean = float(np.sqrt(n / np.pi) * mean * _STEP * np.sum(phi / grown[0] * np.sqrt(t)))
    if spread[0] > 1e-12 * total:  # what is left of the constant part when its mean is taken out
        whole = n * _STEP * float(np.sum((spread[0] / grown[0] + push / grown[0] ** 2) * phi * t))
        gains[0] = max(whole - n * new_mean * new_mean, 0.0) / spread[0]
    return gains.reshape(C.shape), new_mean


def _degrees(K: Array, mean: float, shape: tuple[int, ...]) -> float:
    """nu = 2 E[s]^2 / Var[s] of the mean square s of a Gaussian array."""
    C = K.ravel() - mean * mean
    scatter = float(K_axes.shares(shape) @ (C * C + 2.0 * mean * mean * C)) / float(K.flat[0]) ** 2
    return 1.0 / max(scatter, 1e-12)


def _shrinkage(rho: Array, nu: float) -> Array:
    """E[r] / rho of the module's text; 1 at rho = 1 and for many entries."""
    square = clamp(rho * rho, 0.0, 1.0)
    if nu > 200.0:
        return np.asarray(1.0 - 0.5 * (1.0 - square) / nu)
    ratio = np.exp(2.0 * (special.gammaln(0.5 * (nu + 1.0)) - special.gammaln(0.5 * nu))) * 2.0 / nu
    return np.asarray(np.minimum(ratio * special.hyp2f1(0.5, 0.5, 0.5 * nu + 1.0, square), 1.0))


def _by_running_statistics(
    node: Node, ctx: Context, x: Signal, mean: Signal, var: Signal, channels: tuple[int, ...], eps: float
) -> Signal:
    """(x - running mean) / sqrt(running variance + eps): an affine map, per channel."""
    values = ctx.array(node, 4)
    if values is not None:
        inverse = 1.0 / np.sqrt(np.maximum(np.ravel(values).astype(float), 0.0) + eps)
        first, second, pair = float(inverse.mean()), float(np.mean(inverse**2)), apart(inverse, inverse)
    else:  # log-normal around the mean: E[v^-k] = m^-k (1 + c)^(k (k + 1) / 2)
        level = max(var.mean + eps, 1e-300)
        spread = 1.0 + var.variance / level**2
        first, second = level**-0.5 * spread**0.375, spread / level
        pair = first * first
    if mean.is_constant and second - first * first <= 1e-12 * second:
        return shifted(x, -mean.mean).scaled(first)
    factor = np.full((2,) * len(channels), pair)
    factor.flat[0] = second
    K = x.K - 2.0 * x.mean * mean.mean + placed(mean.K, channels, x.ndim)
    return Signal(x.shape, (x.mean - mean.mean) * first, K * placed(factor, channels, x.ndim), profiles=x.profiles)


def _affine(y: Signal, scale: Signal | None, shift: Signal | None, channels: tuple[int, ...]) -> Signal:
    """scale y + shift, both independent of y and spread over `channels`. Certain values keep the provenance."""
    if scale is not None and scale.is_constant:
        y = y.scaled(scale.mean) if scale.mean != 0.0 else constant(y.shape, 0.0)
    elif scale is not None:
        y = Signal(y.shape, y.mean * scale.mean, y.K * placed(scale.K, channels, y.ndim), profiles=y.profiles)
    if shift is not None and shift.is_constant:
        y = shifted(y, shift.mean)
    elif shift is not None:
        K = y.K + placed(shift.K, channels, y.ndim) + 2.0 * y.mean * shift.mean
        y = y.having(y.mean + shift.mean, K)
    return y


@rule("affine")
def affine(node: Node, ctx: Context, x: Signal, scale: Signal | None, shift: Signal | None) -> Signal:
    """A known scale and shift per feature (rescaled or standardised inputs), tables that may go together.

    For y = g x + c: m' = <g> m + <c>, K'(S) = G(S) K(S) + 2 m X(S) + C(S), with G, C, X the moments of the tables over
    pairs of places that differ on S: of g with itself, of c with itself, and of g with c (symmetric, by polarisation:
    the table g + c has moments G + 2 X + C).
    """
    g, c = np.broadcast_arrays(*(np.asarray(ctx.array(node, slot), float) for slot in (1, 2)))
    gain, offset, both = (aligned(from_array(table), x.shape) for table in (g, c, g + c))
    K = gain.K * x.K + x.mean * (both.K - gain.K - offset.K) + offset.K
    return Signal(x.shape, gain.mean * x.mean + offset.mean, K, profiles=x.profiles)


@rule("weight_norm")
def weight_norm(node: Node, ctx: Context, v: Signal, g: Signal) -> Signal:
    """w = g v / |v| with the norm over all axes but one: E[w^2] = E[g^2] / fan, whatever the size of v."""
    kept = node.attrs.get("axis")
    axes = tuple(i for i in range(v.ndim) if i != kept)
    unit = by_own_statistics(v, axes, centre=False, eps=0.0, l2=True)
    table = g.K
    if kept is None:
        table = np.full((2,) * v.ndim, g.second)
    elif g.ndim != v.ndim:
        table = placed(g.K, (kept,), v.ndim)
    return Signal(v.shape, unit.mean * g.mean, unit.K * table)
