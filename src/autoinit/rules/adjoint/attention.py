"""Softmax and scaled dot-product attention.

The gradients of the weights p of a row are those of y = p v: K(S) with a for the same key and b for another one. For
the logits l, g_l = p (g_p - sum p g_p), so by Price's theorem

    E[g_l g_l'] = (a - b)(S) M(C(S)),    M(C) = sum_j E[dp_i/dl_j dp'_i/dl'_j] = d E[p_i p'_i] / dC

(`softmax_moments.flow_moments`); as rows of g_l sum to zero, different keys have -1/(n - 1) of it, from which it
follows that a bias of the keys gets nothing. Keys and values are projections of the same tokens: the weighted
covariance of v g and k over tokens has, beside what chance makes, the part (a - b)(1 - P2)^2 / D for tokens of
effective width D.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.backward.law import Law, level_places, times
from ...core.backward.passing import Backward
from ...core.gaussian.softmax_moments import flow_moments
from ...core.graph.graph import Node
from ...core.signal.axis_maps import mapped_along, spread
from ...core.signal.contraction import matmul_equation
from ...core.signal.masked_softmax import row_covariance, row_lengths, softmax_signal, square_sums
from ...core.signal.masks import Mask
from ...core.signal.signal import Signal
from ..attention import biased, live_keys, logits_of, repeated_heads, scale_of
from ..random import masked
from .contractions import of_operand
from .registry import adjoint


@adjoint("softmax")
def softmax(node: Node, back: Backward, g: Law) -> None:
    x, axis = back.operand(node, 0), int(node.attrs["axis"])
    assert x is not None
    if node.attrs.get("log"):
        back.send(node.inputs[0], _through_log(x, axis, g.moments))
    else:
        back.send(node.inputs[0], through_softmax(x, axis, x.live, g))


def through_softmax(x: Signal, axis: int, live: Mask | None, g: Law) -> Law:
    """The law of the gradients of the logits x."""
    n = x.shape[axis]
    C, K = row_covariance(x.K, axis), row_covariance(g.moments.K, axis)
    s = max(float(C.flat[0]), 0.0)
    if n == 1:
        return Law(times(g.moments, 0.0))
    lengths = row_lengths(live, x.shape, axis)
    nodes = lengths.nodes
    flows = np.array([flow_moments(float(k), s, C.ravel()) if k > 1 else np.zeros(C.size) for k in nodes.tolist()])
    # A row of l live entries: l of n have that moment.
    each = [lengths.between(flows[:, i] * nodes) / n for i in range(flows.shape[1])]
    M = np.array([float(e.mean()) for e in each]).reshape(C.shape)
    same = K * M
    made = Signal(x.shape, 0.0, np.stack([same, -same / (n - 1.0)], axis=axis), profiles=g.moments.profiles)
    made = made.but(profiles=tuple(None if a == axis else p for a, p in enumerate(made.profiles)))
    level = each[0]
    if live is not None and level.ndim == x.ndim:
        for a, size in enumerate(level.shape):
            if size > 1 and a != axis:
                p = level.mean(axis=tuple(b for b in range(level.ndim) if b != a))
                made = level_places(made, a, p / max(float(p.mean()), 1e-300))
    kept = float(np.mean(np.square(1.0 - square_sums(lengths, s))))
    shared = K * kept * g.inverse_width if axis == x.ndim - 1 and g.inverse_width > 0.0 else None
    return Law(made, shared=shared)


def _through_log(x: Signal, axis: int, g: Signal) -> Signal:
    """log softmax: g - p sum(g)."""
    n = x.shape[axis]
    p = softmax_signal(x, axis, x.live).K
    total = np.take(g.K, 0, axis=axis) * n + np.take(g.K, 1, axis=axis) * n * (n - 1.0)
    per_entry = total / n  # E[g_i sum g']
    both = np.expand_dims(per_entry, axis) * (2.0 / n)
    return Signal(g.shape, 0.0, g.K - both + p * np.expand_dims(total, axis), profiles=g.profiles)


@adjoint("attention")
def attention(node: Node, back: Backward, g: Law) -> None:
    """The three products in turn, on tensors that the op keeps to itself."""
    q, k, v = (back.operand(node, slot) for slot in (0, 1, 2))
    assert q is not None and k is not None and v is not None
    few = k.shape[-3] if node.attrs.get("grouped") else 0
    if few:
        k, v = repeated_heads(k, q), repeated_heads(v, q)
    scale, causal = scale_of(node, q), bool(node.attrs.get("causal"))
    logits = logits_of(q, k, scale)
    mask = back.operand(node, 3) if len(node.inputs) > 3 and node.inputs[3] is not None else None
    values = back.run.array(node, 3) if mask is not None else None
    live = live_keys(logits.shape, causal, values)
    if values is not None:
        logits = biased(logits, values)
    axis = logits.ndim - 1
    p = softmax_signal(logits, axis, live)
    dropped = float(node.attrs.get("dropout") or 0.0)
    weights = masked(p, max(1.0 - dropped, 1e-12), frozenset()) if dropped > 0.0 else p
    names, out = labels_of(logits.ndim, v.ndim)
    values_law = of_operand(1, names, out, [weights, v], g)
    back.send(node.inputs[2], _fewer_heads(_by_key(values_law.moments, logits, live), few))
    shares = of_operand(0, names, out, [weights, v], g)
    if dropped > 0.0:
        shares = Law(masked(shares.moments, 1.0 - dropped, frozenset()), inverse_width=shares.inverse_width)
    if not shares.inverse_width > 0.0:
        shares = replace(shares, inverse_width=1.0 / (q.shape[-1] * (q.shape[-3] if q.ndim > 3 else 1)))
    sums = through_softmax(logits, axis, live, shares)
    if mask is not None:
        back.send(node.inputs[3], sums.moments)
    names, out = labels_of(q.ndim, k.ndim)
    names[1] = names[1][:-2] + names[1][:-3:-1]  # the keys as they are, and not transposed
    sums = sums.scaled(scale)
    back.send(node.inputs[0], of_operand(0, names, out, [q, k], sums))
    back.send(node.inputs[1], _fewer_heads(of_operand(1, names, out, [q, k], sums).moments, few))


def labels_of(left: int, right: int) -> tuple[list[str], str]:
    """A matrix product as labels."""
    names, _, out = matmul_equation(left, right).partition("->")
    return names.split(","), out


def _by_key(g: Signal, logits: Signal, live: Mask | None) -> Signal:
    """Under a mask keys are seen by few rows or by many: E[g_v^2] of key j is the sum over its rows of E[p^2]."""
    if live is None:
        return g
    axis = logits.ndim - 1
    s = max(float(row_covariance(logits.K, axis).flat[0]), 0.0)
    lengths = row_lengths(live, logits.shape, axis)
    squares = square_sums(lengths, s) / np.maximum(lengths.each, 1)
    seen = (np.broadcast_to(live, np.broadcast_shapes(live.shape, squares.shape)) * squares).sum(axis=-2)
    p = seen.reshape(-1, seen.shape[-1]).mean(axis=0)
    if p.size != g.shape[-2] or float(p.mean()) <= 0.0:
        return g
    profiles = (*g.profiles[:-2], p / float(p.mean()), g.profiles[-1])
    return Signal(g.shape, 0.0, g.K, profiles=profiles)


def _fewer_heads(g: Signal, few: int) -> Signal:
    """Keys and values that several heads of queries share: the sum over these."""
    axis = g.ndim - 3
    if not few or few == g.shape[axis]:
        return g
    heads = np.repeat(np.arange(few), g.shape[axis] // few)
    return mapped_along(g, {axis: spread(heads[:, None], np.ones((heads.size, 1)), few)})
