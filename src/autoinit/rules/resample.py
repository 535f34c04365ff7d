"""Interpolation and sliding-window rearrangements (Unfold, Fold)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..core import axes as K_axes
from ..core.graph import Node
from ..core.signal import Array, Signal
from .registry import Context, rule
from .shape import moved


@lru_cache(maxsize=512)
def _weights(n: int, new: int, mode: str, align_corners: bool, antialias: bool) -> Array:
    """The (new, n) matrix that resamples one axis: every row sums to one."""
    W = np.zeros((new, n))
    for i in range(new):
        if mode == "nearest":
            W[i, min(int(i * n / new), n - 1)] = 1.0
            continue
        if align_corners:
            at = i * (n - 1) / (new - 1) if new > 1 else 0.0
        else:
            at = (i + 0.5) * n / new - 0.5
        stretch = max(n / new, 1.0) if antialias else 1.0
        if mode == "linear" and not antialias:
            at = max(at, 0.0)
        reach = int(np.ceil(2 * stretch)) + 1
        for j in range(int(np.floor(at)) - reach, int(np.floor(at)) + reach + 2):
            W[i, min(max(j, 0), n - 1)] += _kernel(abs(at - j) / stretch, mode) / stretch
        W[i] /= W[i].sum()
    return W


def _kernel(t: float, mode: str) -> float:
    if mode == "linear":
        return max(0.0, 1.0 - t)
    a = -0.75
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
            if n == new and nearest:
                continue
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


@rule("im2col")
def im2col(node: Node, ctx: Context, x: Signal) -> Signal:
    """(N, C, H, W) -> (N, C*kh*kw, L): patches as columns. Zero padding leaves a share of dead entries."""
    shape = node.outputs[0].shape
    live, pair = 1.0, 1.0
    for axis, (k, s, p, d) in enumerate(
        zip(node.attrs["window"], node.attrs["stride"], node.attrs["padding"], node.attrs["dilation"], strict=True)
    ):
        n = x.shape[-2 + axis]
        out = (n + 2 * p - d * (k - 1) - 1) // s + 1
        index = np.arange(out)[:, None] * s + np.arange(k)[None, :] * d - p
        share = float(np.mean((index >= 0) & (index < n)))
        live, pair = live * share, pair * share * share
    batched = x.ndim == 4
    K4 = x.K if batched else K_axes.inserted(x.K, 0)
    # rows (channel, tap) differ: almost always in the tap, so another place; columns differ: another place
    far = K4[:, 0, 1, 1]
    other = K4[:, 1, 1, 1]
    taps = int(np.prod(node.attrs["window"]))
    channels = x.shape[-3]
    mixed = (far * (taps - 1) + other * taps * (channels - 1)) / max(taps * channels - 1, 1)
    K = np.stack([np.stack([K4[:, 0, 0, 0] * live, far * pair], -1), np.stack([mixed * pair, mixed * pair], -1)], 1)
    K = K if batched else K[0]
    return Signal(shape, x.mean * live, K)


@rule("col2im")
def col2im(node: Node, ctx: Context, x: Signal) -> Signal:
    """Columns added back into an image: each place sums the patches that cover it."""
    shape = node.outputs[0].shape
    H, W = shape[-2:]
    kh, kw = node.attrs["window"]
    cover = x.shape[-1] * kh * kw / max(H * W, 1)
    one, other = x.K[..., 0, 0], x.K[..., 1, 1]
    same = cover * one + cover * max(cover - 1, 0.0) * other
    far = cover * cover * other
    lead = [np.stack([same, far], -1), np.stack([far, far], -1)]
    space = np.stack(lead, -2)  # (..., h, w) patterns for one channel
    K = np.stack([space, np.full_like(space, 1.0) * far[..., None, None]], axis=-3)
    return Signal(shape, x.mean * cover, K)
