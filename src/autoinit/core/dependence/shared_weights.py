"""Signals that resemble each other because the same weights, or the same parts, made them.

A layer that is called again and again (an iterative refinement, a recurrent cell written out) gives outputs that are
as alike as its inputs: with y = W x and y' = W x', E[y y'] = n s^2 E[x x'] for the same output feature. What such
tensors are made of is remembered on the way, and followed back when two of them are added or multiplied:

    shared       y = W x                   cov(y, y') = (E[y^2] / E[x^2]) cov(x, x')   (same feature, else 0)
    pieces       y = [a, b, ...]           cov(y, y') = the mean over pieces of cov(a, a'), cov(b, b'), ...
    linear       y = sum_k c_k x_k + rest  cov(y, z)  = sum_k c_k cov(x_k, z)
    functions    y = f(u)                  cov(y, z)  = E[f'] cov(u, z)                (first order, Stein)

Only weights that are used more than once are followed, and only through their first `MOST_CALLS` calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph.graph import Graph, Node, ParameterView
from ..graph.roles import feature_axis
from ..signal import axes as K_axes
from ..signal.signal import Array, Signal

SHARED = "made by"
"""Under this key a signal remembers the weight, the input and the axis of output features."""
PIECES = "pieces"
"""Under this key a concatenation remembers its axis and its parts."""
LINEAR = "linear in"
"""Under this key a product remembers its factors, each with the mean of the other."""
SUM = "sum of"
"""Under this key a sum of many terms remembers the two signals that were added last."""
TABLE = "table"
"""Under this key the signal of a constant says that it is one."""

MOST_CALLS = 16

Cross = Callable[[Signal, Signal], Array]


class Sharing:
    """Which weights of a graph are used more than once, and the outputs of their calls."""

    def __init__(self, graph: Graph) -> None:
        uses = Counter(ref for node in graph.nodes for ref in set(node.inputs) if isinstance(ref, ParameterView))
        self.shared = {ref for ref, count in uses.items() if count > 1}
        self.calls: Counter[ParameterView] = Counter()

    def remember(self, node: Node, slots: set[int], x: Signal | None, y: Signal) -> None:
        """Let the output of a contraction remember its weight, if that is used elsewhere too."""
        if not self.shared or len(slots) != 1 or x is None or x.ndim != y.ndim:
            return
        ref = node.inputs[next(iter(slots))]
        if not isinstance(ref, ParameterView) or ref not in self.shared or self.calls[ref] >= MOST_CALLS:
            return
        axis = feature_axis(node)
        if axis is None:
            return
        self.calls[ref] += 1
        y.memo[SHARED] = (ref, x, axis)  # type: ignore[assignment]


def resembles(u: Signal, v: Signal, cross: Cross) -> Array | None:
    """cov(u, v) by what both remember to be made of; None if there is nothing to go by."""
    key = ("resembles", v)
    if key not in u.memo:
        u.memo[key] = None  # type: ignore[assignment]
        u.memo[key] = _resembles(u, v, cross)  # type: ignore[assignment]
    return u.memo[key]  # type: ignore[return-value]


def _resembles(u: Signal, v: Signal, cross: Cross) -> Array | None:
    def covariance(a: Signal, b: Signal) -> Array:
        return cross(a, b) - a.mean * b.mean

    one: Any = u.memo.get(SHARED)
    two: Any = v.memo.get(SHARED)
    if one is not None and two is not None:
        return _by_weight(u, one, two, covariance) if one[0] == two[0] and u.shape == v.shape else None
    one, two = u.memo.get(PIECES), v.memo.get(PIECES)
    if one is not None and two is not None and one[0] == two[0] and u.shape == v.shape:
        return _by_pieces(one[0], one[1], two[1], covariance)
    for a, b in ((u, v), (v, u)):
        parts: Any = a.memo.get(LINEAR) or (a.memo.get(SUM) if _is_followed(b) else None)
        if parts:
            found = [c * covariance(part, b) for c, part in parts if part is b or part.shape == b.shape]
            return sum(found[1:], found[0]) if found else None
    return None


def _is_followed(signal: Signal) -> bool:
    return SHARED in signal.memo or TABLE in signal.memo


def _by_weight(u: Signal, one: Any, two: Any, covariance: Cross) -> Array | None:
    _, x, axis = one
    _, other, other_axis = two
    if axis != other_axis or x.shape != other.shape or x.second <= 0.0:
        return None
    same = (u.second / x.second) * (covariance(x, other) + x.mean * other.mean)
    same = np.take(same, 0, axis=axis)
    return np.stack([same, np.zeros_like(same)], axis=axis)


def _by_pieces(axis: int, ones: Any, others: Any, covariance: Cross) -> Array | None:
    if [p.shape for p in ones] != [p.shape for p in others]:
        return None
    n = sum(p.shape[axis] for p in ones)
    same: Any = 0.0
    different: Any = 0.0
    for a, b in zip(ones, others, strict=True):
        C, size = covariance(a, b), a.shape[axis]
        same = same + size / n * K_axes.same(C, axis)
        different = different + size * (size - 1) / max(n * (n - 1), 1) * K_axes.different(C, axis)
    return np.stack([same, different], axis=axis)
