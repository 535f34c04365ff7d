"""Maxima over windows of a signal, from the one-dimensional integrals of `core.gaussian.maximum`.

Entries are f(u) of a Gaussian source with covariances C(S). Within a window of w_a entries along each pooled
axis a two different entries differ on a non-empty subset T of these axes, in proportion to the product of
w_a - 1 over T; their mean covariance is what the exchangeable maximum needs. Two windows that differ on S
pair their entries place by place with covariance C(S) and otherwise with the mean of C(S u T).

Overlapping windows share entries. With a share phi of the entries in common, the largest of the union lies in
the common part with probability J = phi / (2 - phi), and then both maxima are that entry:

    E[M M'] = (1 - J) E[M M']_(disjoint) + J E[M^2].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..gaussian.expression import apply
from ..gaussian.maximum import max_moments, max_pair
from ..lazy import lazy
from .profiles import Array
from .signal import Signal


@dataclass(frozen=True)
class Window:
    """One pooled axis: entries per window, how many of them are live at each place, and how windows overlap."""

    axis: int
    live: NDArray[np.int64]
    """Live entries of the window at each place."""
    shares: Array
    """Share of common entries of two different windows, one value per distance..."""
    weights: Array
    """...and how frequent that distance is among pairs of different windows (sums to 1)."""

    @classmethod
    def whole(cls, axis: int, n: int) -> Window:
        return cls(axis, np.array([n]), np.zeros(1), np.ones(1))

    @classmethod
    def sliding(cls, axis: int, size: int, stride: int, dilation: int, live: NDArray[np.bool_]) -> Window:
        outputs = live.shape[0]
        distance = np.arange(1, max(outputs, 2))
        weights = np.maximum(outputs - distance, 0).astype(float)
        shift = distance * stride
        common = np.where(shift % dilation == 0, np.maximum(size - shift // dilation, 0), 0) / size
        return cls(axis, live.sum(axis=1), common, weights / max(weights.sum(), 1.0))

    @classmethod
    def of(cls, axis: int, taps: NDArray[np.int64], live: NDArray[np.bool_]) -> Window:
        """Any windows: `taps` (outputs, window) where `live`; what is there twice counts once."""
        held = np.zeros((len(taps), 1 + int(taps.max(initial=0))))
        held[np.arange(len(taps))[:, None].repeat(taps.shape[1], axis=1)[live], taps[live]] = 1.0
        sizes = held.sum(axis=1)
        common = (held @ held.T / max(float(sizes.mean()), 1.0))[np.triu_indices(len(taps), 1)]
        shares, numbers = np.unique(np.round(np.append(common, [] if common.size else 0.0), 6), return_counts=True)
        return cls(axis, sizes.astype(np.int64), np.minimum(shares, 1.0), numbers / numbers.sum())

    @lazy
    def size(self) -> float:
        """Live entries, on average over the places."""
        return float(self.live.mean())


def maximum_over(x: Signal, windows: Sequence[Window], *, smallest: bool = False) -> tuple[float, Array]:
    """(mean, K) of the maximum over windows; the pooled axes stay. The minimum is minus the maximum of -x."""
    if smallest:
        mean, K = maximum_over(Signal.function(x.source, apply("neg", x.expr)), windows)
        return -mean, K
    source, expr = x.source, x.expr
    mean, variance, C = source.mean, source.variance, source.covariance
    counts, chances = _live_counts(windows)
    axes = [w.axis for w in windows]
    within = _across(C, (0,) * C.ndim, windows)  # of two different entries of a window
    firsts = [max_moments(expr, mean, variance, within, k) for k in counts]
    M = float(sum(c * f[0] for c, f in zip(chances, firsts, strict=True)))
    M2 = float(sum(c * f[1] for c, f in zip(chances, firsts, strict=True)))
    typical = max(round(float(np.dot(counts, chances))), 1)
    at_typical = max_moments(expr, mean, variance, within, typical)[0]
    K = np.empty_like(C)
    known: dict[tuple[int, float, float], float] = {}

    def pair(k: int, same: float, across: float) -> float:
        key = (k, round(same / max(variance, 1e-300), 9), round(across / max(variance, 1e-300), 9))
        if key not in known:
            known[key] = float(max_pair(expr, mean, variance, within, k, same, across))
        return known[key]

    for S in product((0, 1), repeat=C.ndim):
        same, across = float(C[S]), _across(C, S, windows)
        apart = [w for w in windows if S[w.axis]]
        if not any(S):
            K[S] = M2
        elif not apart:
            K[S] = sum(c * pair(k, same, across) for c, k in zip(chances, counts, strict=True))
        else:
            disjoint = pair(typical, same, across) - at_typical**2 + M * M
            inside = tuple(0 if a in axes else bit for a, bit in enumerate(S))
            top = float(K[inside]) if any(inside) else M2
            K[S] = disjoint + _common(apart) * (top - disjoint)
    return M, K


def _live_counts(windows: Sequence[Window]) -> tuple[list[int], list[float]]:
    """How many live entries a window has, with probabilities, over all places."""
    table: dict[int, float] = {1: 1.0}
    for w in windows:
        values, numbers = np.unique(np.maximum(w.live, 1), return_counts=True)
        fresh: dict[int, float] = {}
        for (k, chance), (value, number) in product(table.items(), zip(values, numbers, strict=True)):
            fresh[k * int(value)] = fresh.get(k * int(value), 0.0) + chance * float(number) / w.live.size
        table = fresh
    return list(table), list(table.values())


def _across(C: Array, S: tuple[int, ...], windows: Sequence[Window]) -> float:
    """Mean covariance of two entries at different places of windows that differ on S.

    Along a pooled axis in S all entries differ anyway; along the others they agree once and differ w - 1 times.
    """
    free = [w for w in windows if not S[w.axis]]
    copies = prod(w.size for w in windows if S[w.axis])
    total = weight_sum = 0.0
    for T in product((0, 1), repeat=len(free)):
        weight = copies * prod(w.size - 1 if bit else 1.0 for w, bit in zip(free, T, strict=True))
        if not any(T):
            weight -= 1.0
        index = list(S)
        for w, bit in zip(free, T, strict=True):
            index[w.axis] = bit
        total += weight * float(C[tuple(index)])
        weight_sum += weight
    return total / weight_sum if weight_sum > 0.0 else float(C[S])


def _common(apart: Sequence[Window]) -> float:
    """Mean of J = phi / (2 - phi) over the distances of windows that differ on these axes."""
    share, weight = np.ones(1), np.ones(1)
    for w in apart:
        useful = w.shares > 0.0
        share = np.multiply.outer(share, w.shares[useful]).ravel()
        weight = np.multiply.outer(weight, w.weights[useful]).ravel()
    return float(np.sum(weight * share / (2.0 - share)))
