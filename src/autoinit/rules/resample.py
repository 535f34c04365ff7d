"""Interpolation and sliding-window rearrangements (Unfold, Fold)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from .registry import Context, rule
from .shape import moved


@lru_cache(maxsize=512)
def _weights(n: int, new: int, mode: str, align_corners: bool, antialias: bool) -> Array:
    """The (new, n) matrix that resamples one axis: every row sums to one."""
    W = np.zeros((new, n))
    step = (n - 1) / max(new - 1, 1) * (new > 1) if align_corners else n / new
    for i in range(new):
        if mode == "nearest":
            W[i, min(int(i * n / new), n - 1)] = 1.0
        elif antialias:
            W[i] = _antialiased(n, step, i, mode)
        else:
            at = i * step if align_corners else (i + 0.5) * step - 0.5
            if mode == "linear":
                at = max(at, 0.0)
            for j in range(int(np.floor(at)) - 1, int(np.floor(at)) + 3):  # places outside repeat the ends
                W[i, min(max(j, 0), n - 1)] += _kernel(abs(at - j), mode, -0.75)
    return W


def _antialiased(n: int, step: float, i: int, mode: str) -> Array:
    """One row: a kernel as wide as the step (of at least one), over the places that exist, normalised."""
    wide = max(step, 1.0)
    reach, centre = (1 if mode == "linear" else 2) * wide, step * (i + 0.5)
    row = np.zeros(n)
    for j in range(max(int(centre - reach + 0.5), 0), min(int(centre + reach + 0.5), n)):
        row[j] = _kernel(abs(j + 0.5 - centre) / wide, mode, -0.5)
    return np.asarray(row / row.sum())


def _kernel(t: float, mode: str, a: float) -> float:
    if mode == "linear":
        return max(0.0, 1.0 - t)
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


@rule("interpolate")
def interpolate(node: Node, ctx: Context, x: Signal) -> Signal:
    """A known linear map W per axis: E[y_i y_j] = sum_kl W_ik W_jl E[x_k x_l], averaged over places i (or pairs)."""
    a, shape = node.attrs, node.outputs[0].shape
    nearest = a["mode"] == "nearest"

    def move(y: Signal) -> Signal:
        K, profiles = y.K, list(y.profiles)
        for axis in a["axes"]:
            n, new = y.shape[axis], shape[axis]
            if n == new and (nearest or "matrices" in a):
                continue
            W = a.get("matrices", {}).get(axis)
            if W is None:
                W = _weights(n, new, a["mode"], a["align_corners"], a.get("antialias", False))
            p = y.profiles[axis]
            amplitude = np.ones(n) if p is None else np.sqrt(p)
            V = W * amplitude
            squares = np.square(V).sum(axis=1)
            both = np.square(V.sum(axis=1))
            # E[y_i^2] = sum_k V_ik^2 K(same) + sum_{k != l} V_ik V_il K(different), averaged over i
            one, two = K_axes.same(K, axis), K_axes.different(K, axis)
            base = 1.0 if p is None else max((amplitude.sum() ** 2 - n) / max(n * (n - 1), 1), 1e-12)
            same = squares.mean() * one + (both - squares).mean() * two / base
            columns = V.sum(axis=0)
            coincide = (np.square(columns).sum() - squares.sum()) / max(new * (new - 1), 1)
            total = (V.sum() ** 2 - both.sum()) / max(new * (new - 1), 1)
            other = coincide * one + (total - coincide) * two / base
            K = np.stack([same, other if new > 1 else same], axis=axis)
            profiles[axis] = None
            if p is not None:
                q = squares / squares.mean()
                profiles[axis] = q if np.ptp(q) > 1e-9 else None
        return Signal(shape, y.mean, K, profiles=tuple(profiles))

    if nearest:
        return moved(x, ("interpolate", shape, a["mode"]), move)
    return move(Signal(x.shape, x.mean, x.K, profiles=x.profiles))


def _windows(node: Node, out: int, k: int, axis: int) -> NDArray[np.int64]:
    """(taps, windows): the place of the image that each tap of each window shows; may lie outside."""
    stride, low, dilation = (node.attrs[name][axis] for name in ("stride", "padding", "dilation"))
    return np.asarray(np.arange(k)[:, None] * dilation + np.arange(out)[None, :] * stride - low)


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


def _pairs(k: int, out: int) -> Array:
    """Ordered pairs of (tap, window) by what is equal; at least 1, to divide by."""
    return np.asarray(np.maximum(np.outer([k, k * (k - 1)], [out, out * (out - 1)]), 1.0))


@rule("im2col")
def im2col(node: Node, ctx: Context, x: Signal) -> Signal:
    """(N, C, H, W) -> (N, C*kh*kw, L): patches as columns. Zero padding leaves a share of dead entries.

    Each axis becomes (tap, window); the taps are merged with the channels, the windows with each other.
    """
    K, live = x.K, 1.0
    taps: list[int] = []
    outs: list[int] = []
    for axis in (0, 1):
        n, k = x.shape[-2 + axis], node.attrs["window"][axis]
        out = _count(node, n, k, axis)
        same, other = _shared_places(_windows(node, out, k, axis), n)
        at = x.ndim - 2  # (..., h, w), then (..., w, tap, window)
        one, two = K_axes.same(K, at), K_axes.different(K, at)
        size = _pairs(k, out)
        K = one[..., None, None] * (same / size) + two[..., None, None] * (other / size)
        live *= float(same[0, 0]) / (k * out)
        taps, outs = [*taps, k], [*outs, out]
    # (..., channel, tap h, window h, tap w, window w) -> (..., channel, taps, windows)
    K = np.moveaxis(K, -3, -2)
    first = x.ndim - 3
    K = K_axes.merge(K_axes.merge(K, first, [x.shape[first], *taps]), first + 1, outs)
    return Signal(node.outputs[0].shape, x.mean * live, K)


def _count(node: Node, n: int, k: int, axis: int) -> int:
    a = node.attrs
    return int((n + 2 * a["padding"][axis] - a["dilation"][axis] * (k - 1) - 1) // a["stride"][axis] + 1)


@rule("col2im")
def col2im(node: Node, ctx: Context, x: Signal) -> Signal:
    """Columns added back into an image: each place sums the entries of all patches that show it.

    Two entries that add to one place are the same, or differ in tap and window both.
    """
    shape = node.outputs[0].shape
    first = len(shape) - 3
    K = K_axes.split(K_axes.split(x.K, first + 1, 2), first, 3)  # channel, tap h, tap w, window h, window w
    K = np.moveaxis(K, -2, -3)
    mean = x.mean
    for axis in (0, 1):
        n, k = shape[-2 + axis], node.attrs["window"][axis]
        out = _count(node, n, k, axis)
        same, other = _shared_places(_windows(node, out, k, axis), n)
        at = first + 1  # (channel, tap h, window h, tap w, window w), then (channel, tap w, window w, h)
        table = np.moveaxis(K, (at, at + 1), (-2, -1))
        one, two = (table * same).sum(axis=(-2, -1)) / n, (table * other).sum(axis=(-2, -1)) / max(n * (n - 1), 1)
        K = np.stack([one, two], axis=-1)
        mean *= float(same[0, 0]) / n
    return Signal(shape, mean, K)
