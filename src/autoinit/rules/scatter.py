"""Rows added up at places that indices name: index_add, scatter_add, messages to the nodes of a graph."""

from __future__ import annotations

import numpy as np

from ..core import axes as K_axes
from ..core.graph import Node
from ..core.lineage import aligned
from ..core.signal import Signal
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
