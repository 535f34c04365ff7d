"""Linear maps along axes (average pooling, interpolation) and sliding-window rearrangements (Unfold, Fold)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import mapped_along
from ..core.signal.positive import sign_of, signed
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from .registry import Context, rule
from .shape import picked


@rule("average_pool", "interpolate")
def along_axes(node: Node, ctx: Context, x: Signal) -> Signal:
    """y = W x along each axis, W known: m' = (mean sum of a row) m, K' = W K W^T, averaged over pairs of places.

    The mean of w entries has E[y^2] = K(same)/w + (1 - 1/w) K(other). Copies of entries are entries still.
    """
    x, maps = ctx.relations(node).chained(x)
    if all(w.copies for w in maps.values()):
        for axis, w in maps.items():
            x = picked(x, axis, w.taps[:, 0], w.taps.tobytes())
        return x
    made = mapped_along(x, maps).but(deficiency=x.deficiency)
    return signed(made, sign_of(x)) if all((w.weights >= 0.0).all() for w in maps.values()) else made


def _windows(node: Node, n: int, axis: int) -> NDArray[np.int64]:
    """(taps, windows): the place of the image that each tap of each window shows; may lie outside."""
    k, stride, low, apart = (node.attrs[name][axis] for name in ("window", "stride", "padding", "dilation"))
    count = (n + 2 * low - apart * (k - 1) - 1) // stride + 1
    return np.asarray(np.arange(k)[:, None] * apart + np.arange(count)[None, :] * stride - low)


def _shared_places(places: NDArray[np.int64], n: int) -> tuple[Array, Array]:
    """For taps and windows that are equal (0) or differ (1): pairs that show the same place, and two different ones.

    Both of the pair lie inside the image; the counts are sums over all ordered pairs.
    """
    live = (places >= 0) & (places < n)
    rows, columns = live.sum(axis=1), live.sum(axis=0)
    total, each = float(live.sum()), np.bincount(places[live], minlength=n).astype(float)
    in_row, in_column = float(rows @ (rows - 1)), float(columns @ (columns - 1))
    again = float(each @ (each - 1))
    same = np.array([[total, 0.0], [0.0, again]])
    other = np.array([[0.0, in_row], [in_column, total**2 - total - in_row - in_column - again]])
    return same, other


def _unrolled(K: Array, axis: int, places: NDArray[np.int64], n: int) -> Array:
    """An axis of length n becomes two last ones, (tap, window)."""
    k, out = places.shape
    pairs = np.maximum(np.outer([k, k * (k - 1)], [out, out * (out - 1)]), 1.0)
    same, other = _shared_places(places, n)
    return np.asarray(
        K_axes.same(K, axis)[..., None, None] * (same / pairs)
        + K_axes.different(K, axis)[..., None, None] * (other / pairs)
    )


@rule("unfold")
def unfold(node: Node, ctx: Context, x: Signal) -> Signal:
    """Sliding windows along an axis: (windows, ..., size). Different places of two windows that overlap may be the same
    entry; of all such pairs a share c is: K' = c K(same) + (1 - c) K(other)."""
    axis, shape = node.attrs["axis"], node.outputs[0].shape
    places = np.arange(shape[-1])[:, None] + np.arange(shape[axis]) * node.attrs["step"]
    return Signal(shape, x.mean, np.moveaxis(_unrolled(x.K, axis, places, x.shape[axis]), -1, axis))


@rule("im2col")
def im2col(node: Node, ctx: Context, x: Signal) -> Signal:
    """(N, C, H, W) -> (N, C*kh*kw, L): patches as columns. Zero padding leaves a share of dead entries.

    Each axis becomes (tap, window) with K' = P(the same entry) K(same) + P(two live entries) K(other); the taps are
    merged with the channels, the windows with each other.
    """
    K, mean, first = x.K, x.mean, x.ndim - 3
    places = [_windows(node, x.shape[first + 1 + axis], axis) for axis in (0, 1)]
    for inside, n in zip(places, x.shape[first + 1 :], strict=True):
        K = _unrolled(K, first + 1, inside, n)  # (..., h, w), then (..., w, tap, window)
        mean *= float(np.mean((inside >= 0) & (inside < n)))
    # (..., channel, tap h, window h, tap w, window w) -> (..., channel, taps, windows)
    K = np.moveaxis(K, -3, -2)
    taps, outs = zip(*(p.shape for p in places), strict=True)
    K = K_axes.merge(K_axes.merge(K, first, (x.shape[first], *taps)), first + 1, outs)
    return Signal(node.outputs[0].shape, mean, K)


@rule("col2im")
def col2im(node: Node, ctx: Context, x: Signal) -> Signal:
    """Columns added back into an image: each place sums the entries of all patches that show it.

    Two entries that add to one place are the same, or differ in tap and window both. Of c patches that show a place
    E[y^2] = c K(same) + c (c - 1) K(other tap, other window).
    """
    shape, mean = node.outputs[0].shape, x.mean
    first = len(shape) - 3
    K = K_axes.split(K_axes.split(x.K, first + 1, 2), first, 3)  # channel, tap h, tap w, window h, window w
    K = np.moveaxis(K, -2, -3)
    for axis, n in enumerate(shape[-2:]):
        same, other = _shared_places(_windows(node, n, axis), n)
        at = first + 1  # (channel, tap h, window h, tap w, window w), then (channel, tap w, window w, h)
        table = np.moveaxis(K, (at, at + 1), (-2, -1))
        one, two = (table * same).sum(axis=(-2, -1)) / n, (table * other).sum(axis=(-2, -1)) / max(n * (n - 1), 1)
        K = np.stack([one, two], axis=-1)
        mean *= float(same[0, 0]) / n
    return Signal(shape, mean, K)
