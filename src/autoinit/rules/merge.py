"""Several tensors become one: concatenation, stacking, padding, masks, writing into a slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.dependence.functions import moment_together
from ..core.gaussian.expression import X, apply
from ..core.graph.along_axes import maps_of
from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import mapped_along
from ..core.signal.broadcast import aligned
from ..core.signal.masks import DEAD
from ..core.signal.measured import from_array
from ..core.signal.positive import sign_of, signed
from ..core.signal.profiles import Array, Profiles, profile_of
from ..core.signal.signal import Signal, constant
from .registry import Context, rule
from .shape import moved, picked, reshaped

Across = Callable[[int, int], Array | None]
Related = dict[tuple[int, int], Array]
MOST_PARTS = 6
"""Of more parts than these pairs are taken as independent."""


def blended_profiles(parts: Sequence[tuple[float, Signal]], skip: int | None = None) -> Profiles:
    """Profiles of a mixture or sum: averages weighted by each part's share of the second moment."""
    out: list[Array | None] = []
    for axis, n in enumerate(parts[0][1].shape):
        known = [(share, s.profiles[axis]) for share, s in parts]
        known = [(share, p) for share, p in known if p is None or p.size == n]
        level = sum(share for share, _ in known)
        if axis == skip or level <= 0 or all(p is None for _, p in known):
            out.append(None)
        else:
            out.append(sum((share * (np.ones(n) if p is None else p) for share, p in known), np.zeros(n)) / level)
    return tuple(out)


@rule("concat")
def concat(node: Node, ctx: Context, *parts: Signal) -> Signal:
    """A mixture by sizes: of n_i places out of n, m' = sum n_i m_i / n, and along the axis

        K'(same) = sum n_i K_i(same) / n
        K'(other) = (sum n_i (n_i - 1) K_i(other) + sum over i != j of n_i n_j E[x_i x_j]) / (n (n - 1))
    """
    axis, shape = node.attrs["axis"], node.outputs[0].shape
    used = [k for k, p in enumerate(parts) if p.ndim == len(shape) and p.shape[axis] > 0]
    relations = ctx.relations(node)
    return concatenated([parts[k] for k in used], axis, shape, lambda i, j: relations.across(used[i], used[j], axis))


def unlike_pieces(node: Node, ctx: Context, *parts: Signal) -> Signal:
    """The same with the sizes of the pieces as a profile, as gradients need it where they know one piece alone.

    Of sequences of features (rank 3) only: axes that count the features of images are contracted, and not followed.
    """
    made, axis, shape = concat(node, ctx, *parts), node.attrs["axis"], node.outputs[0].shape
    pieces = [p for p in parts if p.ndim == len(shape)]
    if len(shape) != 3 or axis == 2 or sum(p.shape[axis] for p in pieces) != shape[axis] or made.second <= 0.0:
        return made
    levels = [p.second * (np.ones(p.shape[axis]) if p.profiles[axis] is None else p.profiles[axis]) for p in pieces]
    profile = profile_of(np.concatenate(levels))
    return made.but(profiles=(*made.profiles[:axis], profile, *made.profiles[axis + 1 :]))


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
    n, sized = sum(sizes), list(zip(sizes, parts, strict=True))
    totals = np.array([s * p.mean for s, p in sized])
    same = sum((s * K_axes.same(p.K, axis) for s, p in sized), np.zeros(())) / n
    different = sum((s * (s - 1) * K_axes.different(p.K, axis) for s, p in sized), np.zeros(()))
    different = different + float(totals.sum() ** 2 - np.sum(totals**2))
    for (i, j), C in related.items():
        different = different + 2 * sizes[i] * sizes[j] * C
    K = np.stack([same, different / max(n * (n - 1), 1)], axis=axis)
    shares = [(s * p.second, p) for s, p in sized]
    level = max(sum(share for share, _ in shares), 1e-300)
    deficiency = sum(share * p.deficiency for share, p in shares) / level
    shaken = [(share / level) * p.volatility for share, p in shares if p.volatility is not None]
    return Signal(shape, totals.sum() / n, K, profiles=blended_profiles(shares, skip=axis), deficiency=deficiency,
                  volatility=sum(shaken[1:], shaken[0]) if shaken else None)  # fmt: skip


@rule("stack")
def stack(node: Node, ctx: Context, *parts: Signal) -> Signal:
    """Concatenation along a new axis, of parts of size 1: K'(same) = the mean of the K_i."""
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
    along the axis shows where. With another number: x without it padded with zeros, and it again. Other modes repeat
    entries: P(two places show the same entry) raises K({a})."""
    mode, value = node.attrs.get("mode", "constant"), float(node.attrs.get("value", 0.0))
    shape, pads = node.outputs[0].shape, node.attrs["pads"]
    if mode == "constant" and not DEAD < value < -DEAD:
        # Minus infinity around a map, for a maximum that follows: the border is never chosen, the entries stay.
        return moved(x, ("pad", pads, "nothing"), lambda y: Signal(shape, y.mean, y.K))
    if 0 in x.shape:
        return constant(shape, value)
    maps = maps_of(node, x.shape)
    if mode != "constant":
        for axis, windows in maps.items():
            x = picked(x, axis, windows.taps[:, 0], ("pad", mode, pads[axis]))
        return x
    bare = Signal(x.shape, x.mean - value, x.K - 2 * value * x.mean + value**2, profiles=x.profiles)
    made = mapped_along(bare, maps)
    if value == 0.0:
        return signed(made, sign_of(x))
    return Signal(shape, made.mean + value, made.K + 2 * value * made.mean + value**2)


@rule("masked_fill")
def masked_fill(node: Node, ctx: Context, x: Signal, mask: Signal) -> Signal:
    """Fill where a mask is true, a share z: m' = (1 - z) m + z value, K' as for where.

    A very negative value marks entries dead for the softmax that follows.
    """
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
def chosen_by(node: Node, ctx: Context, cond: Signal, a: Signal, b: Signal) -> Signal:
    """Choose by a condition. With z = P(true) and c(S) = P(true at both), independent of what is chosen:

        K'(S) = c K_a + (1 - 2 z + c) K_b + 2 (z - c) E[a b']

    A very negative constant branch marks dead entries instead.
    """
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
    """tril / triu: the rest of the last two axes becomes zero. K'(S) = P(both live) K(S)."""
    rows, columns = x.shape[-2:]
    make = np.tril if node.attrs["lower"] else np.triu
    live = make(np.ones((rows, columns)), node.attrs.get("diagonal", 0))
    keep = aligned(from_array(live), x.shape)
    return Signal(x.shape, x.mean * keep.mean, x.K * keep.K)


@rule("write")
def write(node: Node, ctx: Context, base: Signal, update: Signal) -> Signal:
    """A part of `base` is overwritten by `update`: a mixture by the fraction z that is written.

    m' = z m_u + (1 - z) m_b, E[y^2] = z K_u(0) + (1 - z) K_b(0), and of different entries
    K' = z^2 K_u + (1 - z)^2 K_b + 2 z (1 - z) m_u m_b.
    """
    share = float(node.attrs["fraction"])
    if share >= 1.0 and update.shape == base.shape:
        return update
    same, other = share * update.second + (1 - share) * base.second, update.K
    if update.ndim != base.ndim:
        other = np.full(base.K.shape, update.mean**2)
    K = np.array(share**2 * other + (1 - share) ** 2 * base.K + 2 * share * (1 - share) * base.mean * update.mean)
    K.flat[0] = same
    return Signal(node.outputs[0].shape, share * update.mean + (1 - share) * base.mean, K)
