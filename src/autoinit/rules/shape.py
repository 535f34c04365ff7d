"""Structure: reshape, permute, slice, expand, repeat, gather. Entries move; their law does not change.

A chain f(source) stays one: the move is applied to the source and f is kept. Results are remembered on the
source, so that the same move of the same tensor is the same signal.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.broadcast import aligned
from ..core.signal.merged_axes import MOST_AXES, finely, merged
from ..core.signal.profiles import Array, Profiles
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


def permuted(signal: Signal, perm: Sequence[int]) -> Signal:
    perm = tuple(perm)
    if perm == tuple(range(len(perm))):
        return signal

    def move(x: Signal) -> Signal:
        live = None
        if x.live is not None:
            live = np.transpose(np.broadcast_to(x.live, _full_rank(x.live, x.ndim)), perm)
        made = Signal(
            tuple(x.shape[a] for a in perm), x.mean, x.K.transpose(perm), profiles=tuple(x.profiles[a] for a in perm),
            live=live, logits=None if x.logits is None else permuted(x.logits, perm),
        )  # fmt: skip
        if x.fine is None:
            return made
        order = [x.fine.groups[a] for a in perm]
        inner = permuted(x.fine.signal, [axis for group in order for axis in group])
        return finely(made, inner, [len(group) for group in order])

    return moved(signal, ("permute", perm), move)


def _full_rank(live: np.ndarray[Any, Any], ndim: int) -> tuple[int, ...]:
    return (*(1,) * (ndim - live.ndim), *live.shape)


def matching_blocks(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Cut both shapes into the finest consecutive blocks of equal product; axes of size 1 come and go alone."""
    blocks: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        old_is_one, new_is_one = i < len(old) and old[i] == 1, j < len(new) and new[j] == 1
        if old_is_one != new_is_one:
            blocks.append(([i], []) if old_is_one else ([], [j]))
            i, j = i + old_is_one, j + new_is_one
            continue
        left, right, a, b = [i], [j], old[i], new[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a *= old[i]
                left.append(i)
                i += 1
            else:
                b *= new[j]
                right.append(j)
                j += 1
        blocks.append((left, right))
    return blocks


def reshaped(signal: Signal, shape: Sequence[int]) -> Signal:
    shape = tuple(shape)
    if shape == signal.shape:
        return signal

    def move(x: Signal) -> Signal:
        return _reshape(x, x if x.fine is None else x.fine.signal, shape)

    return moved(signal, ("reshape", shape), move)


def refinement(old: Sequence[int], new: Sequence[int]) -> tuple[list[int], list[int], list[int]] | None:
    """The coarsest sizes that refine both shapes (of equal product), with how many of them make each old and new axis.

    (4, 256) and (16, 64) are refined by (4, 4, 64). None where the boundaries do not divide each other.
    """
    cuts_old, cuts_new = _cuts(old), _cuts(new)
    cuts = sorted(set(cuts_old) | set(cuts_new))
    if any(b % a for a, b in pairwise(cuts)):
        return None
    sizes = [b // a for a, b in pairwise(cuts)][::-1]

    def lengths(own: list[int]) -> list[int]:
        return [sum(a <= c < b for c in cuts) for a, b in pairwise(own)][::-1]

    return sizes, lengths(cuts_old), lengths(cuts_new)


def _cuts(shape: Sequence[int]) -> list[int]:
    """Products of the last 0, 1, 2, ... sizes."""
    cuts = [1]
    for n in reversed(shape):
        cuts.append(cuts[-1] * n)
    return cuts


def _reshape(x: Signal, start: Signal, shape: tuple[int, ...]) -> Signal:
    if prod(shape) == 0 or prod(start.shape) == 0:
        return Signal(shape, x.mean, np.full((2,) * len(shape), x.mean**2))
    K, at = start.K, 0
    profiles: list[Array | None] = []
    fine_shape: list[int] = []
    fine_profiles: list[Array | None] = []
    lengths: list[int] = []
    for left, right in matching_blocks(start.shape, shape):
        sizes, new = [start.shape[a] for a in left], [shape[a] for a in right]
        old = [start.profiles[a] for a in left]
        profiles.extend(_reshape_profile(old, sizes, new))
        if not right:
            K = K_axes.same(K, at)
            continue
        refined = refinement(sizes, new) if len(left) and max(*sizes, *new) > 1 else None
        if refined is None:
            K = K_axes.split(K_axes.merge(K, at, sizes), at, len(new))
            fine_shape, lengths, at = fine_shape + new, lengths + [1] * len(new), at + len(new)
            fine_profiles += _reshape_profile(old, sizes, new)
            continue
        parts, per_old, per_new = refined
        for count in per_old:
            K = K_axes.split(K, at, count)
            at += count
        fine_shape, lengths = fine_shape + parts, lengths + per_new
        fine_profiles += _reshape_profile(old, sizes, parts)
    made = Signal(shape, x.mean, merged(K, fine_shape, lengths), profiles=tuple(profiles))
    if len(shape) < len(fine_shape) <= MOST_AXES:
        return finely(made, Signal(fine_shape, x.mean, K, profiles=tuple(fine_profiles)), lengths)
    return made


def _reshape_profile(old: list[Array | None], sizes: list[int], new: list[int]) -> list[Array | None]:
    if all(p is None for p in old) or not new:
        return [None] * len(new)
    flat = np.ones(1)
    for p, n in zip(old, sizes, strict=True):
        flat = np.outer(flat, np.ones(n) if p is None else p).ravel()
    if len(new) == 1:
        return [flat if flat.size <= 65536 else None]
    whole = flat.reshape(new)
    out: list[Array | None] = []
    for axis in range(len(new)):
        p = whole.mean(axis=tuple(a for a in range(len(new)) if a != axis))
        out.append(p / p.mean() if np.ptp(p) > 1e-9 and p.mean() > 0 else None)
    return out


def part(signal: Signal, axis: int, start: int, stop: int, step: int = 1) -> Signal:
    """Entries start:stop:step along an axis."""
    n = signal.shape[axis]
    stop = min(stop, n)
    if (start, stop, step) == (0, n, 1):
        return signal

    def move(x: Signal) -> Signal:
        size = len(range(start, stop, step))
        shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
        K, profiles, mean = profile_part(x, axis, np.arange(start, stop, step))
        live = None
        if x.live is not None:
            full = np.broadcast_to(x.live, _full_rank(x.live, x.ndim))
            live = full if full.shape[axis] == 1 else np.take(full, np.arange(start, stop, step), axis=axis)
        return Signal(shape, mean, K, profiles=profiles, live=live)

    return moved(signal, ("part", axis, start, stop, step), move)


def profile_part(x: Signal, axis: int, index: np.ndarray[Any, Any]) -> tuple[Array, Profiles, float]:
    """Moments of the entries `index` of an axis that carries a position profile."""
    p = x.profiles[axis]
    if p is None or index.size == 0:
        return x.K, x.profiles, x.mean
    chosen = p[index]
    level = float(chosen.mean())
    if level <= 0:
        return x.K * 0.0, (*x.profiles[:axis], None, *x.profiles[axis + 1 :]), 0.0
    new = chosen / level if np.ptp(chosen) > 1e-9 * level else None
    return x.K * level, (*x.profiles[:axis], new, *x.profiles[axis + 1 :]), x.mean * float(np.sqrt(level))


def without(signal: Signal, axis: int) -> Signal:
    """Drop an axis of size 1."""
    shape = signal.shape[:axis] + signal.shape[axis + 1 :]

    def move(x: Signal) -> Signal:
        return Signal(shape, x.mean, K_axes.same(x.K, axis), profiles=x.profiles[:axis] + x.profiles[axis + 1 :])

    return moved(signal, ("without", axis), move)


@rule("identity")
def identity(node: Node, ctx: Context, x: Signal) -> Signal:
    """The same entries (contiguous, dtype casts)."""
    return x


@rule("shuffle")
def shuffle(node: Node, ctx: Context, x: Signal) -> Signal:
    """The same entries elsewhere: two places of the one and the other order are rarely the same entry."""
    moves = node.attrs.get("moves")
    if moves is None:
        return x.materialised()
    for kind, axis, shift in moves:
        n = x.shape[axis]
        if n > 1 and (kind == "flip" or shift % n):
            x = turned(x, axis, None if kind == "flip" else shift % n)
    return x


def turned(signal: Signal, axis: int, shift: int | None) -> Signal:
    """An axis rolled, or flipped (None)."""

    def move(x: Signal) -> Signal:
        def along(values: np.ndarray[Any, Any], a: int) -> np.ndarray[Any, Any]:
            return np.flip(values, a) if shift is None else np.roll(values, shift, a)

        p, live = x.profiles[axis], x.live
        if live is not None:
            live = along(np.broadcast_to(live, _full_rank(live, x.ndim)), axis)
        profiles = (*x.profiles[:axis], None if p is None else along(p, 0), *x.profiles[axis + 1 :])
        return Signal(x.shape, x.mean, x.K, profiles=profiles, live=live)

    return moved(signal, ("turned", axis, shift), move)


@rule("reshape")
def reshape(node: Node, ctx: Context, x: Signal) -> Signal:
    return reshaped(x, node.outputs[0].shape)


@rule("permute")
def permute(node: Node, ctx: Context, x: Signal) -> Signal:
    return permuted(x, node.attrs["perm"])


@rule("expand")
def expand(node: Node, ctx: Context, x: Signal) -> Signal:
    return aligned(x, node.outputs[0].shape)


@rule("repeat")
def repeat(node: Node, ctx: Context, x: Signal) -> Signal:
    """Tiling r times: two different places hold the same entry with chance (r - 1)/(r n - 1)."""
    shape = node.outputs[0].shape
    x = aligned(x, (1,) * (len(shape) - x.ndim) + x.shape) if len(shape) > x.ndim else x

    def move(y: Signal) -> Signal:
        K, profiles = y.K, list(y.profiles)
        for axis, (n, new) in enumerate(zip(y.shape, shape, strict=True)):
            if new == n or n == 0:
                continue
            r = new // n
            chance = (r - 1) / (new - 1)
            first, other = K_axes.same(K, axis), K_axes.different(K, axis)
            K = np.stack([first, chance * first + (1 - chance) * other], axis=axis)
            p = profiles[axis]
            profiles[axis] = None if p is None else np.tile(p, r)
        return Signal(shape, y.mean, K, profiles=tuple(profiles))

    return moved(x, ("repeat", shape), move)


@rule("slice")
def slice_(node: Node, ctx: Context, x: Signal) -> Signal:
    a = node.attrs
    return part(x, a["axis"], a["start"], a["stop"], a["step"])


@rule("select")
def select(node: Node, ctx: Context, x: Signal) -> Signal:
    axis, index = node.attrs["axis"], node.attrs["index"]
    return without(part(x, axis, index, index + 1), axis)


@rule("split")
def split(node: Node, ctx: Context, x: Signal) -> tuple[Signal, ...]:
    axis, out, at = node.attrs["axis"], [], 0
    for size in node.attrs["sizes"]:
        out.append(part(x, axis, at, at + size))
        at += size
    return tuple(out)


@rule("unbind")
def unbind(node: Node, ctx: Context, x: Signal) -> tuple[Signal, ...]:
    axis = node.attrs["axis"]
    return tuple(without(part(x, axis, k, k + 1), axis) for k in range(x.shape[axis]))


@rule("gather")
def gather(node: Node, ctx: Context, x: Signal, indices: Signal | None = None) -> Signal:
    """Rows picked along one axis by indices of any shape; the axis is replaced by the axes of the indices.

    Two picks along the new axes are the same row by chance 1/n, or as often as the known indices repeat.
    """
    axis, shape = node.attrs["axis"], node.outputs[0].shape
    added = len(shape) - (x.ndim - 1)
    n = x.shape[axis]
    chance = node.attrs.get("chance")
    first, other = K_axes.same(x.K, axis), K_axes.different(x.K, axis)
    if added == 0:
        return Signal(shape, x.mean, first, profiles=x.profiles[:axis] + x.profiles[axis + 1 :])
    if chance is None:
        chance = np.full((2,) * added, 1.0 / max(n, 1))
        chance.flat[0] = 1.0
    K = np.stack([c * first + (1 - c) * other for c in np.asarray(chance, float).ravel()], axis=axis)
    K = K.reshape(first.shape[:axis] + (2,) * added + first.shape[axis:])
    profiles = x.profiles[:axis] + (None,) * added + x.profiles[axis + 1 :]
    return Signal(shape, x.mean, K, profiles=profiles)


@rule("diagonal")
def diagonal(node: Node, ctx: Context, x: Signal) -> Signal:
    """The entries with equal indices on two axes: same or different on both at once; the new axis is last."""
    one, two = node.attrs["axis1"], node.attrs["axis2"]
    K = np.moveaxis(x.K, (one, two), (-2, -1))
    return Signal(node.outputs[0].shape, x.mean, np.stack([K[..., 0, 0], K[..., 1, 1]], axis=-1))


@rule("unfold")
def unfold(node: Node, ctx: Context, x: Signal) -> Signal:
    """Sliding windows along an axis: (windows, ..., size). Different places of two windows that overlap may be the same
    entry; of all such pairs a share is."""
    axis, shape = node.attrs["axis"], node.outputs[0].shape
    windows, size = shape[axis], shape[-1]
    places = np.arange(windows)[:, None] * node.attrs["step"] + np.arange(size)
    reads = np.bincount(places.ravel(), minlength=1).astype(float)
    chance = float(reads @ (reads - 1)) / max(windows * (windows - 1) * size * (size - 1), 1)
    one, two = K_axes.same(x.K, axis), K_axes.different(x.K, axis)
    table = [np.stack([one, two], axis=-1), np.stack([two, chance * one + (1 - chance) * two], axis=-1)]
    return Signal(shape, x.mean, np.stack(table, axis=axis))
