"""Rows gathered at places that indices name, and reduced there: index_add, scatter_reduce, messages of a graph."""

from __future__ import annotations

import numpy as np

from ..core.gaussian.expression import apply
from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.broadcast import aligned
from ..core.signal.placed import Placed
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.window_maximum import Window, maximum_over
from .reduce import product_along
from .registry import Context, rule


@rule("accumulate")
def accumulate(node: Node, ctx: Context, base: Signal, update: Signal) -> Signal:
    """y_j = base_j + the sum of the n_j rows of the update that go to place j.

    With E[n], E[n (n - 1)] over the places and E[n_i n_j] over pairs of them, and K_u(0), K_u(1) the moments of the
    same and of different rows: E[n] K_u(0) + E[n (n - 1)] K_u(1) at the same place, E[n_i n_j] K_u(1) at different
    ones. Base and update count as independent.
    """
    axis, scale = node.attrs["axis"], float(node.attrs.get("scale", 1.0))
    places, rows = base.shape[axis], update.shape[axis]
    mean = rows / max(places, 1)
    same, other = node.attrs.get("pairs") or ((rows - 1) * mean / max(places, 1),) * 2
    shape = tuple(rows if a == axis else n for a, n in enumerate(base.shape))
    u = aligned(update, shape)
    first, second = K_axes.same(u.K, axis), K_axes.different(u.K, axis)
    added = np.stack([mean * first + same * second, other * second], axis=axis) * scale**2
    K = base.K + added + 2 * base.mean * mean * scale * u.mean
    return Signal(base.shape, base.mean + mean * scale * u.mean, K, profiles=base.profiles)


@rule("scatter")
def scatter(node: Node, ctx: Context, base: Signal, update: Signal) -> Signal:
    """y_j = the sum, mean, maximum, minimum or product of the n_j rows that go to place j; the base where none does.

    With `include_self` the base is one more term of a sum or mean (`placed`). Extremes and products are worked
    out for every number of rows that there is, and mixed.
    """
    a = node.attrs
    axis, kind = a["axis"], a["kind"]
    rows = update.shape[axis]
    n = _counts(a.get("counts"), rows, base.shape[axis])
    u = aligned(update, tuple(rows if k == axis else size for k, size in enumerate(base.shape)))
    if kind in ("sum", "mean"):
        return _weighted(base, u, axis, n, kind == "mean", bool(a.get("include_self", False)))
    if not n.any():
        return base
    mean, K = _extremes(u, axis, n, kind == "min") if kind in ("max", "min") else _products(u, axis, n)
    q = float(np.mean(n > 0))
    same = q * K_axes.same(K, axis) + (1 - q) * K_axes.same(base.K, axis)
    other = (
        q * q * K_axes.different(K, axis)
        + (1 - q) ** 2 * K_axes.different(base.K, axis)
        + 2 * q * (1 - q) * mean * base.mean
    )
    return Signal(base.shape, q * mean + (1 - q) * base.mean, np.stack([same, other], axis=axis))


def _counts(known: Array | None, rows: int, places: int) -> Array:
    """Rows per place; thrown at random where the indices are not known."""
    if known is not None:
        return np.asarray(known, float)
    chances = np.full(max(places, 1), 1.0 / max(places, 1))
    return np.random.default_rng(0).multinomial(rows, chances).astype(float)


def _weighted(base: Signal, u: Signal, axis: int, n: Array, mean: bool, own: bool) -> Signal:
    w = 1.0 / np.maximum(n + own, 1.0) if mean else np.ones_like(n)
    b = (w if own else (n == 0)).astype(float)
    return Placed(base, u, axis, n, b, w).signal()


def _extremes(u: Signal, axis: int, n: Array, smallest: bool) -> tuple[float, Array]:
    """The maximum over n rows, n as it is at the places that have any; the minimum is minus that of -u."""
    if u.is_constant:
        return u.mean, u.K
    live = n[n > 0].astype(np.int64)
    window = Window(axis, float(live.mean()), live, np.zeros(1), np.ones(1))
    mean, K = maximum_over(u, apply("neg", u.expr) if smallest else u.expr, [window])
    return (-mean if smallest else mean), K


def _products(u: Signal, axis: int, n: Array) -> tuple[float, Array]:
    """Different places have different rows: taken as independent."""
    values, numbers = np.unique(n[n > 0].astype(int), return_counts=True)
    made = [product_along(u.mean, u.K, axis, int(k)) for k in values]
    chances = numbers / numbers.sum()
    mean = float(sum(c * m for c, (m, _) in zip(chances, made, strict=True)))
    same = np.asarray(sum(c * K_axes.same(K, axis) for c, (_, K) in zip(chances, made, strict=True)))
    return mean, np.stack([same, np.full_like(same, mean * mean)], axis=axis)
