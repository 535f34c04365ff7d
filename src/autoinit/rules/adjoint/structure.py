"""Ops that move entries: their adjoints are the forward rules of the moves that undo them."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from ...core.backward.law import Law, times
from ...core.backward.passing import Backward
from ...core.graph.cuts import Cut, cuts_of
from ...core.graph.graph import Node
from ...core.signal.axis_maps import Linear, copies, mapped_along, spread
from ...core.signal.broadcast import aligned
from ...core.signal.measured import from_array
from ...core.signal.signal import Signal
from ..random import masked
from ..shape import permuted, reshaped, same_row
from .contractions import scattered
from .registry import adjoint


def plain(signal: Signal) -> Signal:
    """The moments and profiles alone, and what axes were merged of."""
    return Signal(signal.shape, 0.0, signal.K, profiles=signal.profiles, fine=signal.fine)


@adjoint("reshape")
def reshape(node: Node, back: Backward, g: Law) -> None:
    ref = node.inputs[0]
    assert ref is not None
    back.send(ref, Law(plain(reshaped(g.moments, ref.shape)), g.own, None, g.inverse_width))


@adjoint("permute")
def permute(node: Node, back: Backward, g: Law) -> None:
    order = [int(a) for a in np.argsort(node.attrs["perm"])]
    back.send(node.inputs[0], Law(plain(permuted(g.moments, order)), g.own, None, g.inverse_width))


@adjoint("expand")
def expand(node: Node, back: Backward, g: Law) -> None:
    back.send(node.inputs[0], g)


@adjoint("repeat")
def repeat(node: Node, back: Backward, g: Law) -> None:
    ref = node.inputs[0]
    assert ref is not None
    missing = g.moments.ndim - len(ref.shape)
    maps = {}
    for axis, n in enumerate((1,) * missing + ref.shape):
        if 0 < n < g.moments.shape[axis]:
            maps[axis] = placed_back(np.arange(g.moments.shape[axis]) % n, n)
    back.send(ref, mapped_along(g.moments, maps))


def placed_back(places: NDArray[np.int64], n: int) -> Linear:
    """Every entry goes to its place of n, where they are added up."""
    return spread(places[:, None], np.ones((places.size, 1)), n)


@adjoint("slice", "select", "split", "unbind")
def cut(node: Node, back: Backward, *laws: Law | None) -> None:
    ref = node.inputs[0]
    assert ref is not None
    for piece, g in zip(cuts_of(node), laws, strict=True):
        if g is not None:
            back.send(ref, _uncut(g.moments, piece, ref.shape))


def _uncut(g: Signal, piece: Cut, shape: tuple[int, ...]) -> Signal:
    n = shape[piece.axis]
    if piece.goes:
        g = reshaped(g, (*shape[: piece.axis], 1, *shape[piece.axis + 1 :]))
    if piece.size == n and piece.step == 1:
        return plain(g)
    places = piece.start + piece.step * np.arange(piece.size)
    return mapped_along(g, {piece.axis: placed_back(places, n)})


@adjoint("gather")
def gather(node: Node, back: Backward, g: Law) -> None:
    ref, axis = node.inputs[0], int(node.attrs["axis"])
    assert ref is not None
    picks = g.moments.shape[axis : axis + g.moments.ndim - (len(ref.shape) - 1)]
    chance = same_row(node.attrs.get("chance"), len(picks), ref.shape[axis])
    K = scattered(g.moments.K, axis, picks, chance, ref.shape[axis])
    profiles = (*g.moments.profiles[:axis], None, *g.moments.profiles[axis + len(picks) :])
    back.send(ref, Signal(ref.shape, 0.0, K, profiles=profiles))


@adjoint("shuffle")
def shuffle(node: Node, back: Backward, g: Law) -> None:
    """The same entries in their old order."""
    made, moves = g.moments, node.attrs.get("moves")
    for kind, axis, shift in reversed(moves or ()):
        places = np.arange(made.shape[axis])
        made = mapped_along(made, {axis: copies(places[::-1] if kind == "flip" else np.roll(places, -shift))})
    back.send(node.inputs[0], made if moves else Signal(made.shape, 0.0, made.K))


@adjoint("concat")
def concat(node: Node, back: Backward, g: Law) -> None:
    axis, at = node.attrs["axis"], 0
    for ref in node.inputs:
        if ref is None or len(ref.shape) != g.moments.ndim:
            continue
        size = ref.shape[axis]
        if size and back.wants(ref):
            back.send(ref, mapped_along(g.moments, {axis: copies(np.arange(at, at + size))}))
        at += size


@adjoint("stack")
def stack(node: Node, back: Backward, g: Law) -> None:
    axis = node.attrs["axis"]
    for k, ref in enumerate(node.inputs):
        if ref is not None and back.wants(ref):
            one = mapped_along(g.moments, {axis: copies(np.array([k]))})
            back.send(ref, plain(reshaped(one, ref.shape)))


@adjoint("triangle")
def triangle(node: Node, back: Backward, g: Law) -> None:
    make = np.tril if node.attrs["lower"] else np.triu
    live = make(np.ones(g.moments.shape[-2:]), node.attrs.get("diagonal", 0))
    back.send(node.inputs[0], times(g.moments, aligned(from_array(live), g.moments.shape).K))


@adjoint("masked_fill")
def masked_fill(node: Node, back: Backward, g: Law) -> None:
    """What is filled in has no gradient. (What a softmax does not see gets none anyway.)"""
    value, mask = float(node.attrs["value"]), back.operand(node, 1)
    if mask is None or not -1e4 < value < 1e4:
        back.send(node.inputs[0], g)
        return
    filled = aligned(mask, g.moments.shape)
    share = min(max(filled.mean, 0.0), 1.0)
    back.send(node.inputs[0], times(g.moments, np.maximum(1.0 - 2.0 * share + filled.K, 0.0)))


@adjoint("dropout")
def dropout(node: Node, back: Backward, g: Law) -> None:
    """The same mask, and the same factor."""
    rate, kind = float(node.attrs["rate"]), node.attrs.get("kind", "inverted")
    if rate <= 0.0:
        back.send(node.inputs[0], g)
    elif rate < 1.0:
        made = masked(g.moments, 1.0 - rate, frozenset(node.attrs.get("shared", ())), "inverted")
        factor = 1.0
        if kind != "inverted":
            keep = 1.0 - rate
            factor = keep if kind == "raw" else _alpha_gain(keep) * keep
        back.send(node.inputs[0], times(made, factor**2))


def _alpha_gain(keep: float) -> float:
    from ..random import ALPHA_PRIME

    return float((keep * (1.0 + (1.0 - keep) * ALPHA_PRIME**2)) ** -0.5)


@adjoint("write")
def write(node: Node, back: Backward, g: Law) -> None:
    """The base where nothing was written over it, and the update where it was."""
    share, (base, update) = float(node.attrs["fraction"]), node.inputs[:2]
    back.send(base, times(g.moments, 1.0 - share))
    if update is not None and back.wants(update):
        level = g.second if prod(update.shape) else 0.0
        same = update.shape == g.moments.shape
        K = np.zeros((2,) * len(update.shape))
        K.flat[0] = level
        back.send(update, g.moments if same else Signal(update.shape, 0.0, K))
