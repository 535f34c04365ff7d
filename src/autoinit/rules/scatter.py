"""Rows that go to the places that indices name, reduced there: index_add, scatter_reduce, messages of a graph.

Sums are y_j = b_j x_j + w_j (sum of the n_j rows u that go to place j).

With A, B the second moments of the same row and of different ones, over the places

    E[y²] = E[b²] K_x + E[w² n] A + E[w² n (n - 1)] B + 2 E[b w n] m_x m_u,

and two different places i, j have E[b_i b_j] K_x + E[w_i n_i w_j n_j] B + 2 E[b_i w_j n_j] m_x m_u, as no row goes to
both. Rows at one place may be more alike than others (messages to one node): they are then worked out once more by
themselves, and have a B of their own. The result remembers its parts: a factor per place that follows (a division by
the counts) belongs to b and w.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import Totals, apart, levelled, transform
from ..core.signal.broadcast import aligned
from ..core.signal.profiles import Array, profile_of
from ..core.signal.signal import Signal
from ..core.signal.window_maximum import Window, maximum_over
from .reduce import product_along
from .registry import Context, rule


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
    inside = _at_one_place(node, ctx, n)
    if kind in ("sum", "mean"):
        own = bool(a.get("include_self", False))
        w = 1.0 / np.maximum(n + own, 1.0) if kind == "mean" else np.ones_like(n)
        u, sums, powers = _by_place(u, axis, a.get("places"), n)
        return Placed(base, u, axis, sums, powers, w if own else (n == 0).astype(float), w, inside).signal()
    if not n.any():
        return base
    mean, K = _extremes(u, axis, n, kind == "min") if kind in ("max", "min") else _products(u, axis, n)
    if inside is not None and kind in ("max", "min"):
        level, better = _extremes(inside, axis, n, kind == "min")
        other = K_axes.different(K, axis) - mean**2 + level**2
        mean, K = level, np.stack([K_axes.same(better, axis), other], axis=axis)
    q = float(np.mean(n > 0))
    same = q * K_axes.same(K, axis) + (1 - q) * K_axes.same(base.K, axis)
    other = (
        q * q * K_axes.different(K, axis)
        + (1 - q) ** 2 * K_axes.different(base.K, axis)
        + 2 * q * (1 - q) * mean * base.mean
    )
    return Signal(base.shape, q * mean + (1 - q) * base.mean, np.stack([same, other], axis=axis))


MOST_ROWS = 64


def _by_place(u: Signal, axis: int, places: Array | None, n: Array) -> tuple[Signal, Array, Array]:
    """Rows brought to one size, and the sums of their sizes and of the squares of these at every place."""
    p = u.profiles[axis]
    if p is None or places is None:
        return u, n, n
    profiles = tuple(None if a == axis else q for a, q in enumerate(u.profiles))
    sums, powers = (np.bincount(places, q, minlength=n.size).astype(float) for q in (np.sqrt(p), p))
    return Signal(u.shape, u.mean, levelled(u.K, axis, p), profiles=profiles), sums, powers


def _at_one_place(node: Node, ctx: Context, n: Array) -> Signal | None:
    """The rows that go to one place, of a place as a row meets it on average."""
    places = node.attrs.get("places")
    if places is None or not np.any(n > 1):
        return None
    typical = int(np.argmin(np.abs(np.where(n > 1, n, np.inf) - float(n @ n) / float(n.sum()))))
    rows = np.flatnonzero(np.asarray(places) == typical)[:MOST_ROWS]
    return ctx.of_rows(node, 1, node.attrs["axis"], tuple(int(row) for row in rows)) if rows.size > 1 else None


def _counts(known: Array | None, rows: int, places: int) -> Array:
    """Rows per place; thrown at random where the indices are not known."""
    if known is not None:
        return np.asarray(known, float)
    chances = np.full(max(places, 1), 1.0 / max(places, 1))
    return np.random.default_rng(0).multinomial(rows, chances).astype(float)


def _extremes(u: Signal, axis: int, n: Array, smallest: bool) -> tuple[float, Array]:
    """The extreme of n rows, n as it is at the places that have any."""
    if u.is_constant:
        return u.mean, u.K
    window = Window(axis, n[n > 0].astype(np.int64), np.zeros(1), np.ones(1))
    return maximum_over(u, [window], smallest=smallest)


def _products(u: Signal, axis: int, n: Array) -> tuple[float, Array]:
    """Different places have different rows: taken as independent."""
    values, numbers = np.unique(n[n > 0].astype(int), return_counts=True)
    made = [product_along(u.mean, u.K, axis, int(k)) for k in values]
    chances = numbers / numbers.sum()
    mean = float(sum(c * m for c, (m, _) in zip(chances, made, strict=True)))
    same = np.asarray(sum(c * K_axes.same(K, axis) for c, (_, K) in zip(chances, made, strict=True)))
    return mean, np.stack([same, np.full_like(same, mean * mean)], axis=axis)


@dataclass(frozen=True, eq=False)
class Placed:
    """The parts of a sum of rows at places."""

    base: Signal
    rows: Signal
    """Of the shape of the base, but for the number of rows along the axis."""
    axis: int
    n: Array
    """Rows per place, each as often as it is large."""
    powers: Array
    """The same with squares of their sizes."""
    b: Array
    w: Array
    inside: Signal | None = None
    """Rows at one place."""

    def signal(self) -> Signal:
        x, u, axis, b, wn = self.base, self.rows, self.axis, self.b, self.w * self.n
        squares = self.w**2 * self.powers
        own, added = Totals(b * b, b, b), Totals(squares, wn, np.sqrt(squares))  # no row goes to two places
        together = 2 * x.mean * u.mean * np.array([np.mean(b * wn), apart(b, wn)])
        K = transform(x.K, axis, own.matrix()) + self._rows(added.matrix())
        K += together.reshape(2, *(1,) * (x.ndim - 1 - axis))
        mean, near = float(np.mean(b)) * x.mean + float(np.mean(wn)) * u.mean, self.inside or u
        level = b * b * x.second + squares * u.second + 2 * b * wn * x.mean * u.mean
        level = level + (wn * wn - squares) * float(K_axes.different(near.K, axis).flat[0])
        profiles = [None] * axis + [profile_of(level)] + [None] * (x.ndim - 1 - axis)
        return Signal(x.shape, mean, K, placed=self, profiles=tuple(profiles))

    def _rows(self, matrix: Array) -> Array:
        """Of pairs of different rows those at one place have a moment of their own, and the others what is left."""
        u, axis = self.rows, self.axis
        if self.inside is None:
            return transform(u.K, axis, matrix)
        total = float(self.powers.sum())
        pairs, together = float(self.n.sum()) ** 2 - total, float(self.n @ self.n) - total
        alone, any_two = K_axes.same(u.K, axis), K_axes.different(u.K, axis)
        near = K_axes.different(self.inside.K, axis)
        far = (any_two * pairs - near * together) / max(pairs - together, 1.0)
        made = [matrix[0, 0] * alone + matrix[0, 1] * near, matrix[1, 0] * alone + matrix[1, 1] * far]
        return np.stack(made, axis=axis)

    def scaled(self, factor: Array) -> Signal:
        """With a factor per place."""
        return replace(self, b=self.b * factor, w=self.w * factor).signal()


def per_place(node: Node, ctx: Context, fn: str, x: Signal) -> Signal | None:
    """A sum of rows at places, times or over a known number per place (the number of rows, for a mean)."""
    found, table = x.placed, ctx.array(node, 1)
    if found is None or table is None or table.ndim > x.ndim or table.dtype.kind not in "fiu":
        return None
    wide = np.asarray(table, float).reshape((1,) * (x.ndim - table.ndim) + table.shape)
    if wide.shape[found.axis] != found.n.size or not np.isfinite(wide).all() or (fn == "div" and not wide.all()):
        return None
    rows = np.moveaxis(wide, found.axis, 0).reshape(found.n.size, -1)
    factor = 1.0 / rows[:, 0] if fn == "div" else rows[:, 0]
    return found.scaled(factor) if (rows == rows[:, :1]).all() else None
