"""Ops that are known linear maps along some of their axes: which entries every output is the sum of.

Their rules put signals through these maps, and their linear forms read them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..signal.axis_maps import Windows, copies
from ..signal.profiles import Array
from .graph import Node, Shape

Maps = dict[int, Windows]
COPIES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""numpy's names for paddings that copy entries."""


class Pooled(NamedTuple):
    """One pooled axis."""

    axis: int
    size: int
    stride: int
    dilation: int
    taps: NDArray[np.int64]
    """(outputs, window): places of the input."""
    live: NDArray[np.bool_]
    """Those that exist."""
    padded: NDArray[np.bool_]
    """Those that exist or are padding: in ceil mode a window may stick out even beyond that."""

    def mean(self, counted: NDArray[np.bool_]) -> Windows:
        """The mean of a window: the sum of what exists, over the number of what is `counted`."""
        return Windows(self.taps, self.live / np.maximum(counted.sum(axis=1, keepdims=True), 1))


def pooled_axes(node: Node, shape: Shape) -> list[Pooled]:
    a, made = node.attrs, []
    count, sizes = len(a["axes"]), a["window"]
    strides, padding = a.get("stride") or sizes, a.get("padding") or ((0, 0),) * count
    dilations = a.get("dilation") or (1,) * count
    for axis, size, stride, (low, high), dilation in zip(a["axes"], sizes, strides, padding, dilations, strict=True):
        n = shape[axis]
        taps = np.arange(node.outputs[0].shape[axis])[:, None] * stride - low + np.arange(size) * dilation
        live = (taps >= 0) & (taps < n)
        made.append(Pooled(axis, size, stride, dilation, np.where(live, taps, 0), live, taps < n + high))
    return made


def _average(node: Node, shape: Shape) -> Maps:
    """With `include_pad` the zeros of the border are counted."""
    whole = node.attrs.get("include_pad", True)
    return {a.axis: a.mean(a.padded if whole else a.live) for a in pooled_axes(node, shape)}


def _any(node: Node, shape: Shape) -> Maps:
    """Any live entry of a window: on average, the one that is chosen."""
    return {a.axis: a.mean(a.live) for a in pooled_axes(node, shape)}


def _resampled(node: Node, shape: Shape) -> Maps:
    a, new = node.attrs, node.outputs[0].shape
    known, nearest = a.get("matrices", {}), a["mode"] == "nearest"
    maps = {}
    for axis in a["axes"]:
        if shape[axis] == new[axis] and (nearest or known):
            continue
        W = known.get(axis)
        if W is None:
            W = _weights(shape[axis], new[axis], a["mode"], a["align_corners"], a.get("antialias", False))
        maps[axis] = copies(W.argmax(axis=1)) if nearest else Windows.dense(W)
    return maps


def _padded(node: Node, shape: Shape) -> Maps:
    mode, maps = node.attrs.get("mode", "constant"), {}
    for axis, (n, (low, high)) in enumerate(zip(shape, node.attrs["pads"], strict=True)):
        if not low and not high:
            continue
        at = np.arange(-low, n + high)
        inside = (at >= 0) & (at < n)
        if mode == "constant":
            maps[axis] = copies(np.where(inside, at, 0), inside)
        else:
            border: Any = (max(low, 0), max(high, 0))
            maps[axis] = copies(np.pad(at[inside], border, mode=COPIES[mode]))  # type: ignore[call-overload]
    return maps


@lru_cache(maxsize=512)
def _weights(n: int, new: int, mode: str, align_corners: bool, antialias: bool) -> Array:
    """The (new, n) matrix that resamples one axis: every row sums to one."""
    i: Any = np.arange(new)
    if mode == "nearest":
        return np.asarray(np.eye(n)[np.minimum(i * n // new, n - 1)])
    step = (n - 1) / max(new - 1, 1) * (new > 1) if align_corners else n / new
    if antialias:  # a kernel as wide as the step (of at least one), over the places that exist, normalised
        W = _kernel((step * (i[:, None] + 0.5) - np.arange(n) - 0.5) / max(step, 1.0), mode, -0.5)
        return np.asarray(W / W.sum(axis=1, keepdims=True))
    at = i * step if align_corners else (i + 0.5) * step - 0.5
    at = np.maximum(at, 0.0) if mode == "linear" else at
    W = _kernel(at[:, None] - np.arange(-3, n + 3), mode, -0.75)
    W[:, 3] += W[:, :3].sum(axis=1)  # places outside repeat the ends
    W[:, n + 2] += W[:, n + 3 :].sum(axis=1)
    return np.asarray(W[:, 3 : n + 3])


def _kernel(t: Array, mode: str, a: float) -> Array:
    t = np.abs(t)
    if mode == "linear":
        return np.maximum(0.0, 1.0 - t)
    far = np.where(t < 2, a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a, 0.0)
    return np.where(t <= 1, (a + 2) * t**3 - (a + 3) * t**2 + 1, far)


AVERAGING: Mapping[str, Callable[[Node, Shape], Maps]] = {
    "average_pool": _average, "lp_pool": _average, "max_pool": _any, "interpolate": _resampled, "pad": _padded,
}  # fmt: skip

CHAINED = {"average_pool": "mean", "interpolate": "mean", "max_pool": "max"}
"""Of which ops several in a row are one, and of which kind."""


def maps_of(node: Node, shape: Shape) -> Maps:
    """The maps of an op with an input of a shape, by axis; of extremes those of an entry that may be the one."""
    return AVERAGING[node.op](node, shape)
