"""Softmax, log-softmax and scaled dot-product attention.

Attention is the matmul rule for the logits, the softmax of `masked_softmax`, and the matmul rule again; with
P_t = E[sum p^2] of row t the output there has

    E[y^2] = P_t K_v(0) + (1 - P_t) K_v(k)  (+ a correction),

which under a causal mask falls along the rows and is returned as a profile.

Keys and values are projections k = W_k x, v = W_v x of the same tokens. For given weights the logit of a
token and a feature of its value are correlated over tokens, with a random coefficient of variance 1/D (D: the
effective width of x, which is what `Signal.deficiency` of a projection of x holds the inverse of). To first
order in the logits, y = mean(v) + cov_tokens(logit, v), so E[y^2] gains

    (s / D) (1 - P)^2 (K_v(0) - K_v(k)),     s: the variance of the logits along a row,

as does every pair of rows that sees the same weights, with s replaced by their shared query part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.gaussian.softmax_moments import logsumexp_moments
from ..core.graph.graph import Node
from ..core.signal.broadcast import aligned
from ..core.signal.contraction import matmul_equation, matmul_moments
from ..core.signal.masked_softmax import row_covariance, row_lengths, row_profiles, softmax_signal, square_sums
from ..core.signal.masks import Mask, causal_mask, dead_entries, unchanging
from ..core.signal.measured import from_array
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.volatility import pair_volatility
from .random import masked
from .registry import Context, rule
from .shape import permuted, picked


@rule("softmax")
def softmax(node: Node, ctx: Context, x: Signal) -> Signal:
    """p = softmax(x) along n live entries: mean 1/n, n E[p p'] an integral over a row, of other entries what is left:

        E[p_i p'_j] = (1 - n E[p_i p'_i]) / (n (n - 1)),

    as rows sum to one (`masked_softmax`). The logarithm is `log_softmax_signal`: x less the logsumexp of its row.
    """
    axis = int(node.attrs["axis"])
    if node.attrs.get("log"):
        return log_softmax_signal(x, axis)
    made = softmax_signal(x, axis)
    if axis == x.ndim - 1:
        made = made.but(logits=Signal(x.shape, x.mean, x.K, live=x.live))  # values may follow: see `shared_input`
    return made


def log_softmax_signal(x: Signal, axis: int) -> Signal:
    """y_i = u_i - L, with u the logits beyond what the row shares (variance s) and L = logsumexp(u).

    Stein's lemma gives E[u_i L] = s E[p_i] = s/n and E[u_i L'] = C/n for rows of covariance C; the covariance
    of L and L' is C/n + O(C^2) and Var L at C = s, between which the square interpolates.
    """
    n = x.shape[axis]
    C = row_covariance(x.K, axis)
    s = max(float(C.flat[0]), 0.0)
    if n == 1 or s == 0.0:
        value = -float(np.log(n))
        return Signal(x.shape, value, np.full_like(x.K, value * value))
    mean, variance = logsumexp_moments(n, s)
    LL = mean * mean + logsumexp_covariance(C, s, n, variance)
    same = C * (1.0 - 2.0 / n) + LL
    different = -2.0 * C / n + LL
    return Signal(x.shape, -mean, np.stack([same, different], axis=axis))


def logsumexp_covariance(C: Array, s: float, n: float, variance: float) -> Array:
    """Covariance of the logsumexps of two rows of n logits (variance s) with covariance C place by place."""
    return np.asarray(C / n + (variance - s / n) * np.square(C / s))


@rule("attention")
def attention(node: Node, ctx: Context, q: Signal, k: Signal, v: Signal, mask: Signal | None = None) -> Signal:
    """y = softmax(scale q k^T + bias) v over (..., tokens, features): matmul, softmax, matmul, and what k, v share."""
    a = node.attrs
    doubt_relatives(node, ctx, matmul_equation(q.ndim, k.ndim).replace("kp", "pk"))
    if a.get("grouped"):
        k, v = repeated_heads(k, q), repeated_heads(v, q)
    logits = logits_of(q, k, scale_of(node, q))
    values = ctx.array(node, 3) if mask is not None else None
    live = live_keys(logits.shape, bool(a.get("causal")), values)
    if live is None and mask is not None and mask.live is not None:  # a bias that was masked on the way
        live = mask.live
    if values is not None:
        logits = biased(logits, values)
    elif mask is not None:
        logits = _plus(logits, mask)
    p = softmax_signal(logits, logits.ndim - 1, live)
    rate = float(a.get("dropout") or 0.0)
    if rate > 0.0:
        p = masked(p, max(1.0 - rate, 1e-12), frozenset())
    made = _weighted(node.outputs[0].shape, p, v, logits, live, rate)
    width = q.shape[-1] * (q.shape[-3] if q.ndim > 3 else 1)
    return shared_input(made, v, logits, live, width=float(width))


def doubt_relatives(node: Node, ctx: Context, equation: str) -> None:
    """x x^T, shared queries and keys: what meets itself is larger than the rest, which no average over pairs tells.

    What a softmax shares out is another matter (`shared_input`).
    """
    relations = ctx.relations(node)
    if relations.meets_itself(equation) and not relations.has_share(0, 1):
        ctx.doubt("both factors are made of the same tensor")


def scale_of(node: Node, q: Signal) -> float:
    given = node.attrs.get("scale")
    return float(q.shape[-1] ** -0.5 if given is None else given)


def repeated_heads(x: Signal, q: Signal) -> Signal:
    """Key or value heads repeated to the number of query heads."""
    axis, heads, few = x.ndim - 3, q.shape[-3], x.shape[-3]
    return picked(x, axis, np.repeat(np.arange(few), heads // few), ("heads", heads)) if heads != few else x


def logits_of(q: Signal, k: Signal, scale: float) -> Signal:
    mean, K = matmul_moments(q, permuted(k, (*range(k.ndim - 2), k.ndim - 1, k.ndim - 2)))
    lead = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    V = pair_volatility(q, k) if q.ndim == k.ndim else None
    return Signal((*lead, q.shape[-2], k.shape[-2]), mean * scale, K * scale * scale, volatility=V)


def live_keys(shape: tuple[int, ...], causal: bool, values: NDArray[np.generic] | None) -> Mask | None:
    """Which keys each query may see; None if all."""
    live: Mask | None = None
    if values is not None:
        live = np.array(values, bool) if values.dtype == np.bool_ else ~dead_entries(np.asarray(values, float))
    if causal:
        triangle = causal_mask(shape[-2], shape[-1])
        live = triangle if live is None else np.asarray(live & triangle)
    return None if live is None or bool(np.all(live)) else unchanging(live)


def biased(logits: Signal, values: NDArray[np.generic]) -> Signal:
    """Logits plus a known additive bias; dead entries are replaced by the mean of their row's live ones."""
    if values.dtype == np.bool_:
        return logits
    bias = np.asarray(values, float)
    alive = ~dead_entries(bias)
    if not np.any(bias[alive]):
        return logits
    count = np.maximum(alive.sum(axis=-1, keepdims=True), 1)
    filled = np.where(alive, bias, 0.0)
    return _plus(logits, from_array(np.where(alive, bias, filled.sum(axis=-1, keepdims=True) / count)))


def _plus(logits: Signal, other: Signal) -> Signal:
    """The sum with an independent signal that broadcasts to the logits."""
    K = logits.K + aligned(other, logits.shape).K + 2.0 * logits.mean * other.mean
    share = logits.variance / max(logits.variance + other.variance, 1e-300)
    V = None if logits.volatility is None else share**2 * logits.volatility
    return Signal(logits.shape, logits.mean + other.mean, K, volatility=V)


def _weighted(shape: Sequence[int], p: Signal, v: Signal, logits: Signal, live: Mask | None, rate: float) -> Signal:
    """p v, with the row profile that a mask (and a profile of the values) makes."""
    mean, K = matmul_moments(p, v)
    if live is None:
        return Signal(shape, mean, K)
    s = max(float(row_covariance(logits.K, logits.ndim - 1).flat[0]), 0.0)
    squares = square_sums(row_lengths(live, logits.shape, logits.ndim - 1), s) / (1.0 - rate)
    alone, together = v.second, float(v.K[(0,) * (v.ndim - 2) + (1, 0)])
    level = squares * alone + (1.0 - squares * (1.0 - rate)) * together
    profile = v.profiles[-2]
    if profile is not None:
        seen = np.asarray(np.broadcast_to(live, (*live.shape[:-1], logits.shape[-1])), float)
        weight = (seen @ profile / np.maximum(seen.sum(axis=-1), 1.0))[..., None]
        adjusted = level * weight.reshape((1,) * (level.ndim - weight.ndim) + weight.shape)
        K = K * float(adjusted.mean() / max(float(level.mean()), 1e-300))
        level = adjusted
    return Signal(shape, mean, K, profiles=row_profiles(np.asarray(level, float), logits.ndim))


def shared_input(
    y: Signal, v: Signal, logits: Signal, live: Mask | None, width: float | None = None, total: float = 1.0
) -> Signal:
    """Add what keys and values owe to their common input (see the module's text) to y = softmax(logits) v.

    The part of the logits that two rows share is C(S), their covariance along a row; rows of other heads or samples
    share as much as their logits do. `width` stands in where the effective width of the input is not known; `total` is
    the mean square of the sum of a row, if that is not one.
    """
    inverse_width = v.deficiency if v.deficiency > 0.0 or width is None else 1.0 / width
    spread = v.second - float(v.K[(0,) * (v.ndim - 2) + (1, 0)])
    C = row_covariance(logits.K, logits.ndim - 1)
    s = float(C.flat[0])
    if spread <= 0.0 or s <= 0.0 or inverse_width <= 0.0 or logits.ndim != y.ndim:
        return y
    lengths = row_lengths(live, logits.shape, logits.ndim - 1)
    kept = float(np.mean(np.square(1.0 - square_sums(lengths, s))))
    extra = np.zeros_like(y.K)
    extra[..., 0] = C * (spread * kept * inverse_width * total)
    return Signal(y.shape, y.mean, y.K + extra, profiles=y.profiles)
