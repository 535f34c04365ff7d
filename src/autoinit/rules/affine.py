"""A known scale and shift per feature (rescaled or standardised inputs).

Both are tables g and c that broadcast to x and may go together, so that for y = g x + c

    m' = <g> m + <c>,    K'(S) = G(S) K(S) + 2 m X(S) + C(S),

with G, C, X the moments of the tables over pairs of places that differ on S: of g with itself, of c with itself, and
of g with c (symmetric, by polarisation: the table g + c has moments G + 2 X + C).
"""

from __future__ import annotations

import numpy as np

from ..core.graph.graph import Node
from ..core.signal.broadcast import aligned
from ..core.signal.measured import from_array
from ..core.signal.signal import Signal
from .registry import Context, rule


@rule("affine")
def affine(node: Node, ctx: Context, x: Signal, scale: Signal | None, shift: Signal | None) -> Signal:
    arrays = [ctx.array(node, slot) for slot in (1, 2)]
    g, c = (np.asarray(a, float) for a in arrays)
    g, c = np.broadcast_arrays(g, c)
    wide = (1,) * (x.ndim - g.ndim) + g.shape
    tables = [aligned(from_array(t.reshape(wide)), x.shape) for t in (g, c, g + c)]
    G, C, both = (t.K for t in tables)
    X = 0.5 * (both - G - C)
    K = G * x.K + 2.0 * x.mean * X + C
    return Signal(x.shape, tables[0].mean * x.mean + tables[1].mean, K, profiles=x.profiles)
