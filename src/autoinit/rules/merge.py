"""Several tensors become one: concatenation, stacking, padding, masks, writing into a slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.dependence.functions import moment_together
from ..core.gaussian.expression import X, apply
from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.broadcast import aligned
from ..core.signal.masks import DEAD
from ..core.signal.measured import from_array
from ..core.signal.positive import sign_of, signed
from ..core.signal.profiles import Array, Profiles
from ..core.signal.signal import Signal
from .registry import Context, rule
from .shape import moved, reshaped

Across = Callable[[int, int], Array | None]
Related = dict[tuple[int, int], Array]
MOST_PARTS = 6
"""Of more parts than these pairs are taken as independent."""
_COPIES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""numpy's names for paddings that copy entries."""


def blended_profiles(parts: Sequence[tuple[float, Signal]], skip: int | None = None) -> Profiles:
    """Profiles of a mixture or sum: averages weighted by each part's share of the second moment."""
    out: list[Array | None] = []
    for axis in range(parts[0][1].ndim):
        n = parts[0][1].shape[axis]
        if axis == skip or all(s.profiles[axis] is None for _, s in parts):
            out.append(None)
            continue
        total, level = np.zeros(n), 0.0
        for share, s in parts:
            p = s.profiles[axis]
            if p is not None and p.size != n:
                continue
            total += share * (np.ones(n) if p is None else p)
            level += share
        out.append(total / level if level > 0 else None)
    return tuple(out)


@rule("concat")
def concat(node: Node, ctx: Context, *parts: Signal) -> Signal:
    axis, shape = node.attrs["axis"], node.outputs[0].shape
    used = [k for k, p in enumerate(parts) if p.ndim == len(shape) and p.shape[axis] > 0]
    relations = ctx.relations(node)
    return concatenated([parts[k] for k in used], axis, shape, lambda i, j: relations.across(used[i], used[j], axis))


def concatenated(parts: Sequence[Signal], axis: int, shape: tuple[int, ...], across: Across) -> Signal:
    """A mixture of the parts by their sizes; `across`: the covariance of two parts, averaged over pairs of places."""
    if len(parts) == 1:
        return parts[0]
    first, known = parts[0], _related(parts, across)
    if not known and first.source is not first and all(p.expr is first.expr and p.source is not p for p in parts):
        source = _mixture([p.source for p in parts], axis, shape, known)
        if all(_same_law(p.source, first.source) for p in parts):
            return Signal.function(source, first.expr)
        mixed = _mixture(parts, axis, shape, known)  # f of a mixture is not f of the Gaussian with its moments
        return Signal.function(source, first.expr, mean=mixed.mean, K=mixed.K)
    return _mixture(parts, axis, shape, known)


def _related(parts: Sequence[Signal], across: Across) -> Related:
    """The covariances of parts that vary together."""
    found: Related = {}
    for i, u in enumerate(parts[:MOST_PARTS] if len(parts) <= MOST_PARTS else ()):
        for j, v in enumerate(parts[:i]):
            C = across(i, j)
            if C is not None and np.any(np.abs(C) > 1e-9 * (u.variance * v.variance) ** 0.5):
                found[i, j] = C
    return found


def _same_law(u: Signal, v: Signal) -> bool:
    scale = v.second**0.5
    return abs(u.mean - v.mean) <= 1e-6 * scale and abs(u.second - v.second) <= 1e-6 * v.second


def _mixture(parts: Sequence[Signal], axis: int, shape: tuple[int, ...], related: Related) -> Signal:
    sizes = [p.shape[axis] for p in parts]
    n = sum(sizes)
    mean = sum(s * p.mean for s, p in zip(sizes, parts, strict=True)) / n
    same = sum((s * K_axes.same(p.K, axis) for s, p in zip(sizes, parts, strict=True)), np.zeros(())) / n
    different = sum(
        (s * (s - 1) * K_axes.different(p.K, axis) for s, p in zip(sizes, parts, strict=True)), np.zeros(())
    )
    totals = np.array([s * p.mean for s, p in zip(sizes, parts, strict=True)])
    different = different + float(totals.sum() ** 2 - np.sum(totals**2))
    for (i, j), C in related.items():
        different = different + 2 * sizes[i] * sizes[j] * C
    K = np.stack([same, different / max(n * (n - 1), 1)], axis=axis)
    shares = [(s * p.second, p) for s, p in zip(sizes, parts, strict=True)]
    level = max(sum(share for share, _ in shares), 1e-300)
    deficiency = sum(share * p.deficiency for share, p in shares) / level
    shaken = [(share / level) * p.volatility for share, p in shares if p.volatility is not None]
    return Signal(shape, mean, K, profiles=blended_profiles(shares, skip=axis), deficiency=deficiency,
                  volatility=sum(shaken[1:], shaken[0]) if shaken else None)  # fmt: skip


@rule("stack")
def stack(node: Node, ctx: Context, *parts: Signal) -> Signal:
    axis = node.attrs["axis"]
    shape = node.outputs[0].shape
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    relations = ctx.relations(node)

    def across(i: int, j: int) -> Array | None:
        return relations.covariance(i, j, parts[i].shape)

    return concatenated([reshaped(p, one) for p in parts], axis, shape, across)


@rule("pad")
def pad(node: Node, ctx: Context, x: Signal) -> Signal:
    """Padding. With zeros, a fraction z of dead entries: m' = (1 - z) m, K'(S) = P(both live) K(S), and the profile
    along the axis shows where. Other modes repeat entries: P(two places show the same entry) raises K({a})."""
    pads, mode, value = node.attrs["pads"], node.attrs.get("mode", "constant"), node.attrs.get("value", 0.0)
    shape = node.outputs[0].shape
    zero = mode == "constant" and value == 0.0

    def move(y: Signal) -> Signal:
        K, mean, profiles = y.K, y.mean, list(y.profiles)
        for axis, (low, high) in enumerate(pads):
            n, new = y.shape[axis], shape[axis]
            if (low, high) == (0, 0) or n == 0 or new == 0:
                continue
            old = y.profiles[axis]
            p = np.ones(n) if old is None else old
            if low < 0 or high < 0:
                p = p[max(-low, 0) : n + min(high, 0)]
                level = float(p.mean())
                K, mean = K * level, mean * float(np.sqrt(level))
                p = p / level if level > 0 else p
                low, high, n = max(low, 0), max(high, 0), p.size
            if zero or mode == "constant":
                live = n / new
                both = n * (n - 1) / max(new * (new - 1), 1)
                K = np.stack([K_axes.same(K, axis) * live, K_axes.different(K, axis) * both], axis=axis)
                mean *= live
                profiles[axis] = np.concatenate([np.zeros(low), p, np.zeros(high)]) / live
            else:
                shown = np.pad(np.arange(n), (low, high), mode=_COPIES.get(mode, "edge"))  # type: ignore[call-overload]
                counts = np.bincount(shown, minlength=n).astype(float)
                chance = float(counts @ (counts - 1)) / max(new * (new - 1), 1)
                one, two = K_axes.same(K, axis), K_axes.different(K, axis)
                K = np.stack([one, chance * one + (1 - chance) * two], axis=axis)
                profiles[axis] = None
                if old is not None:
                    q = p[shown]
                    level = float(q.mean())
                    K, mean = K * level, mean * float(np.sqrt(level))
                    profiles[axis] = q / level if level > 0 else None
        return Signal(shape, mean, K, profiles=tuple(profiles))

    if mode == "constant" and not DEAD < value < -DEAD:
        # Minus infinity around a map, for a maximum that follows: the border is never chosen, the entries stay.
        return moved(x, ("pad", pads, "nothing"), lambda y: Signal(shape, y.mean, y.K))
    if mode == "constant" and not zero:
        return _pad_value(x, move, shape, float(value))
    if zero:
        plain = Signal(x.shape, x.mean, x.K, profiles=x.profiles)
        return signed(move(plain), sign_of(x))
    return moved(x, ("pad", pads, mode), move)


def _pad_value(x: Signal, move: object, shape: tuple[int, ...], value: float) -> Signal:
    """Padding with a constant: x - value padded with zeros, plus value."""
    m, K = x.mean - value, x.K - 2 * value * x.mean + value**2
    shifted = move(Signal(x.shape, m, K, profiles=x.profiles))  # type: ignore[operator]
    mean = shifted.mean + value
    return Signal(shape, mean, shifted.K + 2 * value * shifted.mean + value**2)


@rule("masked_fill")
def masked_fill(node: Node, ctx: Context, x: Signal, mask: Signal) -> Signal:
    """Fill where a mask is true. A very negative value marks entries dead for the softmax that follows."""
    value = float(node.attrs["value"])
    if value <= DEAD or value != value:
        array = ctx.array(node, 1)
        live = None if array is None else ~np.asarray(array, bool)
        live = live if x.live is None or live is None else (x.live & live)
        return Signal(x.shape, x.mean, x.K, profiles=x.profiles, live=live)
    if mask.source is x.source and mask.expr is not X:  # a condition on x itself: one function of its source
        return Signal.function(x.source, apply("where", mask.expr, value, x.expr))
    filled = min(max(mask.mean, 0.0), 1.0)
    other = Signal(x.shape, value, np.full((2,) * x.ndim, value**2))
    made = replaced(x, other, aligned(mask, x.shape), filled, None)
    return signed(made, sign_of(x)) if value == 0.0 else made


def replaced(x: Signal, y: Signal, chosen: Signal, share: float, covariance: Array | None) -> Signal:
    """y where `chosen` (0/1, independent of both) is one, else x; `covariance`: of both (None: they have none)."""
    c = chosen.K if chosen.K.ndim == x.ndim else np.full(x.K.shape, share**2)
    cross = x.mean * y.mean + (0.0 if covariance is None else covariance)
    K = c * y.K + (1 - 2 * share + c) * x.K + 2 * (share - c) * cross
    return Signal(x.shape, share * y.mean + (1 - share) * x.mean, K)


@rule("where")
def where(node: Node, ctx: Context, cond: Signal, a: Signal, b: Signal) -> Signal:
    return chosen_by(node, ctx, cond, a, b)


def chosen_by(node: Node, ctx: Context, cond: Signal, a: Signal, b: Signal) -> Signal:
    """Choose by a condition; a very negative constant branch marks dead entries instead."""
    shape = node.outputs[0].shape
    cond, a, b = aligned(cond, shape), aligned(a, shape), aligned(b, shape)
    for kept, other, keep_true in ((a, b, True), (b, a, False)):
        if other.mean <= DEAD and other.is_constant:
            array = ctx.array(node, 0)
            truth = None if array is None else np.asarray(array, bool)
            live = truth if truth is None or keep_true else ~truth
            return Signal(shape, kept.mean, kept.K, profiles=kept.profiles, live=live)
    if not cond.is_constant and any(ctx.related(node, 0, slot) for slot in range(1, len(node.inputs))):
        ctx.doubt("the condition depends on what it chooses")
    share = min(max(cond.mean, 0.0), 1.0)
    together = moment_together(a, b) - a.mean * b.mean if a.source is b.source else None
    return replaced(b, a, cond, share, ctx.relations(node).covariance(1, 2) if together is None else together)


@rule("triangle")
def triangle(node: Node, ctx: Context, x: Signal) -> Signal:
    """tril / triu: the rest of the last two axes becomes zero."""
    rows, columns = x.shape[-2:]
    make = np.tril if node.attrs["lower"] else np.triu
    live = make(np.ones((rows, columns)), node.attrs.get("diagonal", 0))
    keep = aligned(from_array(live), x.shape)
    return Signal(x.shape, x.mean * keep.mean, x.K * keep.K)


@rule("write")
def write(node: Node, ctx: Context, base: Signal, update: Signal) -> Signal:
    """A part of `base` is overwritten by `update`: a mixture by the fraction that is written."""
    share = float(node.attrs["fraction"])
    if share >= 1.0 and update.shape == base.shape:
        return update
    if update.ndim == base.ndim:
        K_update = update.K
    else:
        K_update = np.full(base.K.shape, update.mean**2)
        K_update.flat[0] = update.second
    K = share**2 * K_update + (1 - share) ** 2 * base.K + 2 * share * (1 - share) * base.mean * update.mean
    K = np.array(K)
    K.flat[0] = share * update.second + (1 - share) * base.second
    return Signal(node.outputs[0].shape, share * update.mean + (1 - share) * base.mean, K)
