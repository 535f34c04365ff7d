"""Structure: reshape, permute, slice, expand, repeat, gather. Entries move; their law does not change.

A chain f(source) stays one: the move is applied to the source and f is kept. Results are remembered on the
source, so that the same move of the same tensor is the same signal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..core.graph.graph import Node, Shape
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import copies, mapped_along
from ..core.signal.broadcast import aligned
from ..core.signal.masked_softmax import row_profiles
from ..core.signal.merged_axes import MOST_AXES, finely, merged
from ..core.signal.profiles import Array, profile_of
from ..core.signal.signal import Signal
from .registry import Context, rule

Move = Callable[[Signal], Signal]


def moved(signal: Signal, key: Hashable, move: Move) -> Signal:
    """Apply a structural `move` to a signal, keeping "function of a Gaussian source" and remembering the result."""
    return signal.once(key, lambda: _moved(signal, key, move))


def _moved(signal: Signal, key: Hashable, move: Move) -> Signal:
    if signal.source is signal:
        V = signal.volatility
        shaken = None if V is None else move(Signal(signal.shape, 0.0, V)).K
        return move(signal).but(deficiency=signal.deficiency, volatility=shaken)
    source = moved(signal.source, key, move)
    finer = signal.source.fine is not None and signal.fine is None  # the source knows more than our moments
    if (signal._K is None or finer) and all(p is None for p in signal.profiles):
        return Signal.function(source, signal.expr)
    plain = move(Signal(signal.shape, signal.mean, signal.K, profiles=signal.profiles, fine=signal.fine))
    return Signal.function(
        source, signal.expr, mean=plain.mean, K=plain.K, profiles=plain.profiles, fine=plain.fine
    )


def _live(x: Signal) -> NDArray[np.bool_] | None:
    """The mask with all axes."""
    return None if x.live is None else x.live.reshape((1,) * (x.ndim - x.live.ndim) + x.live.shape)


def permuted(signal: Signal, perm: Sequence[int]) -> Signal:
    perm = tuple(perm)
    if perm == tuple(range(len(perm))):
        return signal

    def move(x: Signal) -> Signal:
        live = _live(x)
        made = Signal(
            tuple(x.shape[a] for a in perm), x.mean, x.K.transpose(perm), profiles=tuple(x.profiles[a] for a in perm),
            live=None if live is None else live.transpose(perm),
            logits=None if x.logits is None else permuted(x.logits, perm),
        )  # fmt: skip
        if x.fine is None:
            return made
        order = [x.fine.groups[a] for a in perm]
        inner = permuted(x.fine.signal, [axis for group in order for axis in group])
        return finely(made, inner, [len(group) for group in order])

    return moved(signal, ("permute", perm), move)


def reshaped(signal: Signal, shape: Sequence[int]) -> Signal:
    shape = tuple(shape)
    if shape == signal.shape:
        return signal

    def move(x: Signal) -> Signal:
        return _reshape(x, x if x.fine is None else x.fine.signal, shape)

    return moved(signal, ("reshape", shape), move)


@lru_cache(maxsize=4096)
def matching_blocks(old: Shape, new: Shape) -> tuple[tuple[Shape, Shape], ...]:
    """Cut both shapes into the finest consecutive blocks of equal product; axes of size 1 come and go alone."""
    blocks: list[tuple[Shape, Shape]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        old_is_one, new_is_one = i < len(old) and old[i] == 1, j < len(new) and new[j] == 1
        if old_is_one != new_is_one:
            blocks.append(((i,), ()) if old_is_one else ((), (j,)))
            i, j = i + old_is_one, j + new_is_one
            continue
        left, right = [i], [j]
        while (a := prod(old[k] for k in left)) != (b := prod(new[k] for k in right)):
            if a < b:
                left.append(left[-1] + 1)
            else:
                right.append(right[-1] + 1)
        blocks.append((tuple(left), tuple(right)))
        i, j = left[-1] + 1, right[-1] + 1
    return tuple(blocks)


@lru_cache(maxsize=4096)
def refinement(old: Shape, new: Shape) -> tuple[Shape, Shape, Shape] | None:
    """The coarsest sizes that refine both shapes (of equal product), with how many of them make each old and new axis.

    (4, 256) and (16, 64) are refined by (4, 4, 64). None where the boundaries do not divide each other.
    """
    sizes, per_old, per_new = [], [0] * len(old), [0] * len(new)
    left, right, i, j = list(old), list(new), 0, 0
    while i < len(old) and j < len(new):
        part = min(left[i], right[j])
        if left[i] % part or right[j] % part:
            return None
        sizes.append(part)
        left[i], right[j] = left[i] // part, right[j] // part
        per_old[i], per_new[j] = per_old[i] + 1, per_new[j] + 1
        i, j = i + (left[i] == 1), j + (right[j] == 1)
    return tuple(sizes), tuple(per_old), tuple(per_new)


def _reshape(x: Signal, start: Signal, shape: tuple[int, ...]) -> Signal:
    if prod(shape) == 0 or prod(start.shape) == 0:
        return Signal(shape, x.mean, np.full((2,) * len(shape), x.mean**2))
    K, at = start.K, 0
    profiles: list[Array | None] = []
    fine_shape: list[int] = []
    fine_profiles: list[Array | None] = []
    lengths: list[int] = []
    for left, right in matching_blocks(start.shape, shape):
        if not right:
            K = K_axes.same(K, at)
            continue
        sizes, new = tuple([start.shape[a] for a in left]), tuple([shape[a] for a in right])
        parts, per_new = new, (1,) * len(new)
        refined = refinement(sizes, new) if left else None
        if refined is None:
            K = K_axes.split(K_axes.merge(K, at, sizes), at, len(new))
        else:
            parts, per_old, per_new = refined
            for k, count in enumerate(per_old):
                K = K_axes.split(K, at + sum(per_old[:k]), count)
        old = [start.profiles[a] for a in left]
        profiles += _reshape_profile(old, sizes, new)
        fine_profiles += _reshape_profile(old, sizes, parts)
        fine_shape += parts
        lengths += per_new
        at += len(parts)
    made = Signal(shape, x.mean, merged(K, fine_shape, lengths), profiles=tuple(profiles))
    if len(shape) < len(fine_shape) <= MOST_AXES:
        return finely(made, Signal(fine_shape, x.mean, K, profiles=tuple(fine_profiles)), lengths)
    return made


def _reshape_profile(old: list[Array | None], sizes: Shape, new: Shape) -> list[Array | None]:
    if not any(p is not None for p in old):
        return [None] * len(new)
    flat = np.ones(1)
    for p, n in zip(old, sizes, strict=True):
        flat = np.outer(flat, np.ones(n) if p is None else p).ravel()
    if len(new) == 1:
        return [flat if flat.size <= 65536 else None]
    return list(row_profiles(flat.reshape(new), len(new)))


def picked(signal: Signal, axis: int, places: NDArray[np.int64], key: Hashable, once: bool = False) -> Signal:
    """The entries at these places of an axis, in this order, each as often as it is named (`once`: no more than that).
    """

    def move(x: Signal) -> Signal:
        if once and x.profiles[axis] is None:  # places that are all alike
            shape = (*x.shape[:axis], places.size, *x.shape[axis + 1 :])
            made = Signal(shape, x.mean, x.K, profiles=x.profiles)
        else:
            made = mapped_along(x, {axis: copies(places)})
        live = _live(x)
        if live is None:
            return made
        return made.but(live=live if live.shape[axis] == 1 else np.take(live, places, axis=axis))

    return moved(signal, (key, axis), move)


def part(signal: Signal, axis: int, start: int, stop: int, step: int = 1) -> Signal:
    """Entries start:stop:step along an axis."""
    n = signal.shape[axis]
    if (start, min(stop, n), step) == (0, n, 1):
        return signal
    places = np.arange(start, min(stop, n), step)
    return picked(signal, axis, places, ("part", start, stop, step), once=True)


@rule("identity")
def identity(node: Node, ctx: Context, x: Signal) -> Signal:
    """The same entries (contiguous, dtype casts): K' = K."""
    return x


@rule("shuffle")
def shuffle(node: Node, ctx: Context, x: Signal) -> Signal:
    """The same entries elsewhere: K' = K, but two places of the one and the other order are rarely the same entry."""
    moves = node.attrs.get("moves")
    if moves is None:
        return x.materialised()
    for kind, axis, shift in moves:
        places = np.arange(x.shape[axis])
        if kind == "flip":
            x = picked(x, axis, places[::-1], "flip")
        elif shift % max(places.size, 1):
            x = picked(x, axis, np.roll(places, shift), ("roll", shift % places.size))
    return x


@rule("reshape")
def reshape(node: Node, ctx: Context, x: Signal) -> Signal:
    """An axis that is split keeps K, with "other" wherever one of its parts differs.

    Axes a and b merged into one: K'(same) = K(same, same), K'(other) = the mean over the pairs that differ on a, b or
    both. Which axes were merged is remembered, and a split that follows finds them again.
    """
    return reshaped(x, node.outputs[0].shape)


@rule("permute")
def permute(node: Node, ctx: Context, x: Signal) -> Signal:
    """Axes in another order: K' = K with its axes in that order."""
    return permuted(x, node.attrs["perm"])


@rule("expand")
def expand(node: Node, ctx: Context, x: Signal) -> Signal:
    """One entry at every place of an axis: K'(S, other) = K'(S, same) = K(S)."""
    return aligned(x, node.outputs[0].shape)


@rule("repeat")
def repeat(node: Node, ctx: Context, x: Signal) -> Signal:
    """Tiling r times: two different places hold the same entry with chance c = (r - 1)/(r n - 1).

    So K'(S, other) = c K(S, same) + (1 - c) K(S, other).
    """
    shape = node.outputs[0].shape
    x = aligned(x, (1,) * (len(shape) - x.ndim) + x.shape)
    for axis, (n, new) in enumerate(zip(x.shape, shape, strict=True)):
        x = picked(x, axis, np.tile(np.arange(n), new // n), ("repeat", new)) if 0 < n < new else x
    return x


@rule("slice")
def slice_(node: Node, ctx: Context, x: Signal) -> Signal:
    """Some places of an axis: K' = K, with the profile of those places."""
    a = node.attrs
    return part(x, a["axis"], a["start"], a["stop"], a["step"])


@rule("select", "split", "unbind")
def pieces(node: Node, ctx: Context, x: Signal) -> Signal | tuple[Signal, ...]:
    """Places of an axis, one after the other, for each output: K' = K, single ones lose the axis."""
    a, made = node.attrs, []
    at = a.get("index", 0)
    for out, size in zip(node.outputs, a.get("sizes") or (1,) * len(node.outputs), strict=True):
        made.append(reshaped(part(x, a["axis"], at, at + size), out.shape))
        at += size
    return tuple(made) if len(made) > 1 else made[0]


@rule("gather")
def gather(node: Node, ctx: Context, x: Signal, indices: Signal | None = None) -> Signal:
    """Rows picked along one axis by indices of any shape; the axis is replaced by the axes of the indices.

    Two picks along the new axes are the same row by chance c = 1/n, or as often as the known indices repeat:
    K'(S, other) = c K(S, same) + (1 - c) K(S, other). Rows of unlike size, known, bring theirs.
    """
    axis, shape = node.attrs["axis"], node.outputs[0].shape
    added = len(shape) - (x.ndim - 1)
    chance = same_row(node.attrs.get("chance"), added, x.shape[axis])
    p, rows = x.profiles[axis], ctx.array(node, 1) if len(node.inputs) > 1 and added == 1 else None
    picked = None if p is None or rows is None else p[np.asarray(rows, int)]
    level = 1.0 if picked is None else float(picked.mean())
    sizes = (None,) * added if picked is None else (profile_of(picked),)
    first, other = K_axes.same(x.K, axis) * level, K_axes.different(x.K, axis) * level
    K = np.stack([c * first + (1 - c) * other for c in chance.ravel()], axis=axis)
    K = K.reshape(first.shape[:axis] + (2,) * added + first.shape[axis:])
    return Signal(shape, x.mean, K, profiles=x.profiles[:axis] + sizes + x.profiles[axis + 1 :])


def same_row(chance: Array | None, ndim: int, rows: int) -> Array:
    """The chance that two indices are the same, per pattern: as known, or that of a row among so many."""
    if chance is not None:
        return np.asarray(chance, float).reshape((2,) * ndim)
    made = np.full((2,) * ndim, 1.0 / max(rows, 1))
    made.flat[0] = 1.0
    return made


@rule("diagonal")
def diagonal(node: Node, ctx: Context, x: Signal) -> Signal:
    """The entries with equal indices on two axes, the new axis being last: K'(same) = K(same, same), both or none."""
    one, two = node.attrs["axis1"], node.attrs["axis2"]
    K = np.moveaxis(x.K, (one, two), (-2, -1))
    return Signal(node.outputs[0].shape, x.mean, np.stack([K[..., 0, 0], K[..., 1, 1]], axis=-1))
