"""Sums of rows at the places that indices name: y_j = b_j x_j + w_j (sum of the n_j rows u that go to place j).

With A, B the second moments of the same row and of different ones, over the places

    E[y²] = E[b²] K_x + E[w² n] A + E[w² n (n - 1)] B + 2 E[b w n] m_x m_u,

and two different places i, j have E[b_i b_j] K_x + E[w_i n_i w_j n_j] B + 2 E[b_i w_j n_j] m_x m_u, as no row goes to
both. The result remembers its parts: a factor per place that follows (a division by the counts) belongs to b and w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import axes as K_axes
from .profiles import Array
from .signal import Signal


@dataclass(frozen=True, eq=False)
class Placed:
    """The parts of a sum of rows at places."""

    base: Signal
    rows: Signal
    """Of the shape of the base, but for the number of rows along the axis."""
    axis: int
    n: Array
    """Rows per place."""
    b: Array
    w: Array

    def signal(self) -> Signal:
        x, u, axis, b, wn = self.base, self.rows, self.axis, self.b, self.w * self.n
        first, second = K_axes.same(u.K, axis), K_axes.different(u.K, axis)
        cross = x.mean * u.mean
        same = (
            np.mean(b * b) * K_axes.same(x.K, axis)
            + np.mean(self.w * wn) * first
            + np.mean(wn * (wn - self.w)) * second
            + 2 * np.mean(b * wn) * cross
        )
        other = _apart(b, b) * K_axes.different(x.K, axis) + _apart(wn, wn) * second + 2 * _apart(b, wn) * cross
        level = float(np.mean(b)) * x.mean + float(np.mean(wn)) * u.mean
        return Signal(x.shape, level, np.stack([same, other], axis=axis), placed=self)

    def scaled(self, factor: Array) -> Signal:
        """With a factor per place."""
        return Placed(self.base, self.rows, self.axis, self.n, self.b * factor, self.w * factor).signal()


def _apart(f: Array, g: Array) -> float:
    """E[f_i g_j] over different places."""
    if f.size < 2:
        return float(f @ g) / max(f.size, 1)
    return float(f.sum() * g.sum() - f @ g) / (f.size * (f.size - 1))


def per_place(signal: Signal, table: Array | None) -> Signal | None:
    """signal times a table of constants that has one number per place, if the signal is such a sum."""
    found = signal.placed
    if found is None or table is None or table.ndim > signal.ndim:
        return None
    wide = np.asarray(table, float).reshape((1,) * (signal.ndim - table.ndim) + table.shape)
    if wide.shape[found.axis] != found.n.size or not np.isfinite(wide).all():
        return None
    rows = np.moveaxis(wide, found.axis, 0).reshape(found.n.size, -1)
    return found.scaled(rows[:, 0]) if (rows == rows[:, :1]).all() else None
