"""Normalisation: what was taken off the signal has no gradient, and the rest is divided by the deviation.

For y = (x - mean(x))/s over axes A, of unit mean square, and g that knows nothing of x,

    g_x = (g - <g> - y <g y>) / s,

so with the average over A of one index as a product of matrices in the eigenspaces of A (`eigen_along`)

    E[g_x g_x'] = (K_g - <K_g> - 2 <K_g K_y> + K_y <<K_g K_y>>) E[1/s^2].

E[1/s^2] is 1 + t times 1/E[s^2]: t is the relative variance of the statistic, <(1 + 2 rho^2)(1 + V) - 1> over A with
the correlations rho and the volatility V of x. Places with statistics of their own divide by their own: a profile of x
divides that of g. The gain's gradient is the sum of g y; where a function follows, g = h f'(y) knows y, which counts.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from ...core.backward.law import Law, Own, level_places, times
from ...core.backward.passing import Backward
from ...core.graph.graph import Node
from ...core.signal import axes as K_axes
from ...core.signal.axis_maps import at_same, averaged_over, placed
from ...core.signal.marginal import POINTS, hermite_rows, normal_points
from ...core.signal.profiles import Array
from ...core.signal.signal import Signal
from ..normalize import by_own_statistics, eigen_along
from .registry import adjoint


@adjoint("normalize")
def normalize(node: Node, back: Backward, g: Law) -> None:
    a = node.attrs
    axes, channels = tuple(a["axes"]), tuple(a.get("channel_axes", ()))
    x = back.operand(node, 0)
    assert x is not None
    eps, groups, l2 = float(a.get("eps", 0.0)), int(a.get("groups") or 0), bool(a.get("l2", False))
    running = bool(a.get("use_running")) and len(node.inputs) > 4 and node.inputs[4] is not None
    centre = bool(a.get("centre", True))
    channel = channels[0] if groups else 1
    if running:
        made = back.made(node)
        unit = Signal(x.shape, 0.0, x.K) if made is None else made
    else:
        unit = by_own_statistics(x, axes, centre, eps, l2, groups, channel)
    _gain_and_shift(node, back, unit, channels, g)
    scale = back.operand(node, 1) if len(node.inputs) > 1 and node.inputs[1] is not None else None
    if scale is not None:
        g = Law(times(g.moments, placed(scale.K, channels, x.ndim)), g.own)
    if running:
        variance = back.operand(node, 4)
        level = 1.0 if variance is None else max(variance.mean + eps, 1e-300)
        back.send(node.inputs[0], Law(times(g.moments, 1.0 / level), g.own))
        return
    if x.volatility is not None and _by_feature(x, axes, groups):
        other = K_axes.different(x.volatility, 1)
        common = K_axes.of_both(other, other, 1)
        x = x.but(volatility=common + back.scatter_of_rows(node.inputs[0], 1))
    law = through_statistics(x, unit, axes, centre, eps, g, l2, groups, channel)
    for axis in () if groups else range(1, x.ndim):
        levels = None if axis in axes or x.profiles[axis] is not None else back.unlike(node.inputs[0], axis, axes)
        if levels is not None:  # places of unlike size, each with its own statistic
            law = replace(law, moments=level_places(law.moments, axis, float(np.mean(levels)) / levels))
    back.send(node.inputs[0], law)


def _gain_and_shift(node: Node, back: Backward, unit: Signal, channels: tuple[int, ...], g: Law) -> None:
    labels = "".join(chr(97 + k) for k in range(unit.ndim))
    kept = "".join(labels[a] for a in channels)
    gain, shift = (node.inputs[k] if len(node.inputs) > k else None for k in (1, 2))
    if gain is not None and back.wants(gain):
        K = np.sum([h.moments.K * (unit.K if h.own is None else felt(unit, h.own)) for h in g.each], axis=0)
        back.send(gain, _summed_to(Signal(unit.shape, 0.0, K, profiles=g.moments.profiles), labels, kept))
    if shift is not None and back.wants(shift):
        back.send(shift, _summed_to(g.moments, labels, kept))


def felt(unit: Signal, own: Own) -> Array:
    """E[u a(u) v a(v)] for g = h a(u): by the Hermite coefficients of u a(u) at the points of u."""
    points = unit.mean + np.sqrt(unit.variance) * normal_points()
    coefficients = np.square(hermite_rows() @ (points * own.amplitudes) / POINTS)
    rho = np.clip(unit.covariance / unit.variance, -1.0, 1.0) if unit.variance > 0.0 else np.ones(unit.K.shape)
    made = np.asarray(np.polynomial.polynomial.polyval(rho, coefficients))
    made.flat[0] = float(np.mean(points**2 * own.squares))
    return made


def _summed_to(g: Signal, labels: str, kept: str) -> Signal:
    """Summed over all axes but some: sums over pairs of places are exact whatever the profiles are."""
    table = g.K
    for axis, (label, n) in enumerate(zip(labels, g.shape, strict=True)):
        if label not in kept:
            count = np.array([n, n * (n - 1.0)])
            table = table * count.reshape([2 if k == axis else 1 for k in range(g.ndim)])
    table = table.sum(axis=tuple(k for k, c in enumerate(labels) if c not in kept))
    return Signal([g.shape[labels.index(c)] for c in kept], 0.0, table)


def through_statistics(
    x: Signal, unit: Signal, axes: tuple[int, ...], centre: bool, eps: float, g: Law, l2: bool = False, groups: int = 0,
    channel: int = 1,
) -> Law:  # fmt: skip
    """The law of the gradients of x, for those of x normalised over `axes` (`unit`)."""
    K_x, K_y, K_g, shape, over = x.K, unit.K, g.moments.K, x.shape, axes
    if groups:
        inner = x.shape[channel] // groups
        K_x, K_y, K_g = (K_axes.split(K, channel, 2) for K in (K_x, K_y, K_g))
        shape = (*x.shape[:channel], groups, inner, *x.shape[channel + 1 :])
        over = tuple(sorted((channel + 1, *(i + (i > channel) for i in axes))))
    n = float(prod(shape[i] for i in over))
    V = x.volatility if not groups else None
    level, scatter = _statistic(K_x, x.mean, shape, over, centre, V)
    if not level > 1e-13 * x.second:
        return Law(times(g.moments, 0.0))
    if l2:
        K_g, K_y = K_g / n, K_y * n
    made = _projected(K_g, K_y, over, shape, centre)
    for part in () if groups else g.each:
        if part.own is not None:  # g knows y: E[<g y>^2] is what E[y a(y)] makes of it
            made = made - K_y * averaged_over(part.moments.K * (felt(unit, part.own) - K_y), over, shape)
    made = made * ((1.0 + scatter) / (level + eps))
    if groups:
        made = K_axes.merge(made, channel, (groups, inner))
    made.flat[0] = max(float(made.flat[0]), 0.0)
    moments = Signal(x.shape, 0.0, made, profiles=g.moments.profiles)
    for axis, p in enumerate(x.profiles):
        if p is not None and axis not in axes and not (groups and axis == channel):
            moments = level_places(moments, axis, 1.0 / np.maximum(p, 1e-12))
    return Law(moments, g.own, divided=1.0 + scatter if _by_feature(x, axes, groups) else 0.0)


def _by_feature(x: Signal, axes: tuple[int, ...], groups: int) -> bool:
    """Each feature has a statistic of its own, over the batch: what axis 1 counts."""
    return not groups and x.ndim > 1 and 1 not in axes and 0 in axes


def _statistic(
    K: Array, mean: float, shape: tuple[int, ...], axes: tuple[int, ...], centre: bool, V: Array | None
) -> tuple[float, float]:
    """The expected mean square over `axes`, and its relative variance."""
    whole = K
    if centre:
        K, mean = K - averaged_over(K, axes, shape), 0.0
    level = float(K.flat[0])
    if level <= 0.0:
        return 0.0, 0.0
    C = K - mean * mean
    gained = (level * level + 2.0 * C * C + 4.0 * mean * mean * C) / level**2
    if V is not None:  # known of x as it is: 2 (1 - rho^2)/(effective width) of places of correlation rho
        before, after = (1.0 - np.square(np.clip(table / table.flat[0], -1.0, 1.0)) for table in (whole, K))
        gained = gained * (1.0 + np.maximum(V, 0.0) * after / np.maximum(before, 1e-9))
    gained = gained - 1.0
    return level, min(max(float(averaged_over(gained, axes, shape).flat[0]), 0.0), 1.0)


def _projected(K_g: Array, K_y: Array, axes: tuple[int, ...], shape: tuple[int, ...], centre: bool) -> Array:
    """K_g - <K_g> - 2 <K_g K_y> + K_y <<K_g K_y>>, the averages over `axes`."""
    if centre:
        K_g = K_g - averaged_over(K_g, axes, shape)
    n = float(prod(shape[i] for i in axes))
    within = at_same(K_y, [i for i in range(K_y.ndim) if i not in axes])  # pairs under one statistic
    common = eigen_along(eigen_along(K_g, axes, shape) * eigen_along(within, axes, shape), axes, shape, back=True) / n
    both = averaged_over(K_g * K_y, axes, shape)
    return np.asarray(K_g - 2.0 * common + K_y * both)
