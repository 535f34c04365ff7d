"""Cumulative sums, products and extremes along an axis: y_t is the reduction of the first t entries.

For sums the matrix of `core.signal.axis_maps` has Q = n(n+1)/2, row totals 1..n and column totals n..1; it is exact,
and E[y_t^2] = t K(same) + t (t - 1) K(different) is returned as a profile.
"""

from __future__ import annotations

import numpy as np

from ..core.gaussian.expression import apply
from ..core.graph.graph import Node
from ..core.signal.axis_maps import transform
from ..core.signal.positive import sign_of, signed
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.window_maximum import Window, maximum_over
from .registry import Context, rule

MOST_PLACES = 8
"""Places along the axis at which products and extremes are worked out."""


@rule("cumulative")
def cumulative(node: Node, ctx: Context, x: Signal) -> Signal:
    """Running sum, product, maximum or minimum."""
    axis, kind = int(node.attrs["axis"]), node.attrs["kind"]
    n = x.shape[axis]
    if n <= 1:
        return x
    if kind == "sum":
        summed = _remaining_sum if node.attrs.get("remaining") else _running_sum
        return signed(summed(x, axis, n), sign_of(x))
    places = sorted({round(t) for t in np.linspace(1, n, min(n, MOST_PLACES)).tolist()})
    if kind == "prod":
        return _running_product(x, axis, places)
    return _running_extreme(x, axis, places, smallest=kind == "min")


def _running_sum(x: Signal, axis: int, n: int) -> Signal:
    t = np.arange(1.0, n + 1.0)
    q, squares, total = float(t.sum()), float(t @ t), float(t.sum())
    pairs = n * (n - 1.0)
    matrix = np.array(
        [[q / n, (squares - q) / n], [(squares - q) / pairs, (total * total - 2.0 * squares + q) / pairs]]
    )
    index = tuple(1 if a == axis else 0 for a in range(x.ndim))
    level = t * x.second + t * (t - 1.0) * float(x.K[index])
    profiles = list(x.profiles)
    profiles[axis] = level / level.mean() if level.mean() > 0 else None
    return Signal(x.shape, x.mean * float(t.mean()), transform(x.K, axis, matrix), profiles=tuple(profiles))


def _remaining_sum(x: Signal, axis: int, n: int) -> Signal:
    """c_n - c_t of a running sum c: what is still to come, of the sign of the entries."""
    t = np.arange(n - 1.0, -1.0, -1.0)
    common = np.minimum.outer(t, t)
    alone, pairs = float(t.sum()), float(common.sum() - t.sum())
    same, other = np.take(x.K, 0, axis=axis), np.take(x.K, 1, axis=axis)
    first = (alone * same + float(t @ (t - 1.0)) * other) / n
    total = float(t.sum()) ** 2 - float(t @ t)
    second = (pairs * same + (total - pairs) * other) / (n * (n - 1.0))
    return Signal(x.shape, x.mean * float(t.mean()), np.stack([first, second], axis=axis))


def _running_product(x: Signal, axis: int, places: list[int]) -> Signal:
    """Independent factors: E[P_t P'_t'] = K^min(t, t') m^|t - t'|."""
    same = np.take(x.K, 0, axis=axis)
    first = np.mean([_power(same, t) for t in places], axis=0)
    other = np.mean([_power(same, min(t, u)) * x.mean ** abs(t - u) for t in places for u in places if t != u], axis=0)
    return Signal(x.shape, float(np.mean([x.mean**t for t in places])), np.stack([first, other], axis=axis))


def _power(K: Array, t: int) -> Array:
    return np.asarray(np.sign(K) ** t * np.exp(np.clip(t * np.log(np.maximum(np.abs(K), 1e-300)), -690.0, 600.0)))


def _running_extreme(x: Signal, axis: int, places: list[int], *, smallest: bool) -> Signal:
    """Extremes of t < t' entries agree when the larger set's extreme lies in the smaller one: chance t/t'.

    Otherwise they covary like the extremes of disjoint sets, through what all entries share.
    """
    expr = apply("neg", x.expr) if smallest else x.expr
    moments = [maximum_over(x, expr, [Window.whole(axis, t)] if t > 1 else []) for t in places]
    means = [m for m, _ in moments]
    agree = [np.take(K, 0, axis=axis) - m * m for m, K in moments]
    apart = [np.take(K, 1, axis=axis) - m * m for m, K in moments]
    first = np.mean([C + m * m for C, m in zip(agree, means, strict=True)], axis=0)
    others = []
    for i, t in enumerate(places):
        for j, u in enumerate(places):
            if i != j:
                less, chance = (i, t / u) if t < u else (j, u / t)
                others.append(means[i] * means[j] + chance * agree[less] + (1.0 - chance) * apart[less])
    mean = float(np.mean(means))
    K = np.stack([first, np.mean(others, axis=0)], axis=axis)
    return Signal(x.shape, -mean if smallest else mean, K, profiles=x.profiles)
