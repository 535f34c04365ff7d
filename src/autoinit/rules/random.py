"""Randomness inside the model: dropout in its variants, and fresh noise.

A mask element M is 1 with probability q = 1 - rate and is shared by all entries that differ only along the
`shared` axes. For two entries that share it E[M M'] = q, else q^2. Hence for y = x M / q

    m' = m,    K'(S) = K(S) / q  if S lies within the shared axes (S = 0 included),   else K(S).

y is x plus a noise that is uncorrelated with x, and is remembered as such, so that x + dropout(x) stays
exact.
"""

from __future__ import annotations

import numpy as np

from ..core.graph.graph import Node
from ..core.signal.axis_maps import within
from ..core.signal.signal import Signal, constant, iid
from .registry import Context, rule

ALPHA_PRIME = -1.7580993408473766
"""-scale * alpha of SELU: the value that alpha dropout puts in place of a dropped entry."""


@rule("dropout")
def dropout(node: Node, ctx: Context, x: Signal) -> Signal:
    """Dropout at a rate: inverted (scaled by 1/q), alpha (keeps SELU's mean 0 and variance 1) or raw (not scaled).

    Inverted: m' = m, K'(S) = K(S) / q where the mask is shared, else K(S); raw: q m, q K(S) and q^2 K(S).
    """
    rate = float(node.attrs["rate"])
    if rate <= 0.0:
        return x
    if rate >= 1.0:
        return constant(x.shape, 0.0)
    return masked(x, 1.0 - rate, frozenset(node.attrs.get("shared", ())), node.attrs.get("kind", "inverted"))


def masked(x: Signal, keep: float, shared: frozenset[int], kind: str = "inverted") -> Signal:
    """The signal under a random mask that keeps each element with probability `keep`."""
    fill, gain, offset = 0.0, 1.0, 0.0
    if kind == "inverted":
        gain = 1.0 / keep
    elif kind == "alpha":
        fill = ALPHA_PRIME
        gain = (keep * (1.0 + (1.0 - keep) * fill * fill)) ** -0.5
        offset = -gain * fill * (1.0 - keep)
    one = within(x.shape, shared)
    # E of (x M + fill (1 - M)) squared, the mask shared or not.
    drop = 1.0 - keep
    tied = keep * x.K + drop * fill * fill
    free = keep * keep * x.K + 2.0 * keep * drop * fill * x.mean + (drop * fill) ** 2
    inner = keep * x.mean + drop * fill
    mean = gain * inner + offset
    K = gain * gain * np.where(one, tied, free) + 2.0 * gain * offset * inner + offset * offset
    slope = gain * keep
    variance = float(K.flat[0]) - mean * mean
    kept = (slope * slope * x.variance / variance) ** 2 if variance > 0.0 else 1.0  # noise has a direction per feature
    return x.having(mean, K).but(deficiency=kept * x.deficiency, logits=x.logits)


@rule("noise")
def noise(node: Node, ctx: Context) -> Signal:
    """Fresh independent values made inside the model: K(same) = mean^2 + variance, else mean^2."""
    return iid(node.outputs[0].shape, float(node.attrs.get("mean", 0.0)), float(node.attrs.get("variance", 1.0)))
