"""Mixtures of experts: grouped dense layers, and the weights that a router chooses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod

import numpy as np

from ..core.gaussian.expression import X
from ..core.graph.graph import Node
from ..core.signal.measured import from_array
from ..core.signal.samples import sample
from ..core.signal.signal import Signal, constant
from ..core.signal.volatility import contracted
from .contract import ByVariance
from .registry import Context, rule

ENTRIES = 2**13
"""A choice is sampled until it has given about so many entries..."""
MOST_REPEATS = 24
"""...but no more often than this."""
STEPS = 16


@rule("grouped_linear")
def grouped_linear(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """y_r = x_r W_e(r): every row meets one of E slices of the weight, two rows the same one with chance c.

    With a(e, o, r) = n K_x(r, 0) K_w(e, 0, o) + n (n - 1) K_x(r, 1) K_w(e, 1, o), where e says whether the experts
    of two rows differ and o whether the outputs do,

        K'(same row, o) = a(0, o, 0),   K'(another row, o) = c a(0, o, 1) + (1 - c) a(1, o, 1).

    Fresh weights: n s^2 K_x(S) for the same output feature, times c for different rows.
    """
    shape, n = node.outputs[0].shape, x.shape[-1]
    chance = node.attrs.get("chance")
    c = 1.0 / max(node.inputs[1].shape[0], 1) if chance is None else float(chance)  # type: ignore[union-attr]

    def through(w: Signal) -> Signal:
        def a(e: int, o: int, r: int) -> float:
            return float(n * x.K[r, 0] * w.K[e, 0, o] + n * (n - 1) * x.K[r, 1] * w.K[e, 1, o])

        K = np.array([[a(0, o, 0) for o in (0, 1)], [c * a(0, o, 1) + (1 - c) * a(1, o, 1) for o in (0, 1)]])
        return Signal(shape, n * x.mean * w.mean, K, profiles=(x.profiles[0], None), deficiency=1.0 / n + x.deficiency,
                      volatility=contracted(x, x.ndim - 1, n))  # fmt: skip

    mapped = ByVariance(through)
    return mapped(ctx.weight(node, 1, lambda w: mapped(w).second))


@rule("chosen")
def chosen(node: Node, ctx: Context, *sources: Signal) -> Signal:
    """What a choice makes of its sources, which are Gaussian: moments of the real ops on samples of them (seeded).

    Entries that are not finite are marked for what follows, which is itself worked out from the sources.
    """
    program = node.attrs.get("program")
    if program is None:
        return _sampled(node, sources)
    typical = [_typical(s) for s in sources]
    key = (node.op, program, node.outputs[0].shape, tuple(_law(s) for s in typical))
    return ctx.once(key, lambda: _sampled(node, typical))


def _typical(x: Signal) -> Signal:
    """The signal with its correlations rounded to 1/16, which samples do not tell from it: layers become alike."""
    source = x.source
    if not source.variance > 0.0:
        return x
    K = source.mean**2 + source.variance * np.round(STEPS * source.covariance / source.variance) / STEPS
    near = Signal(source.shape, source.mean, K, profiles=source.profiles)
    return near if x.expr is X else Signal.function(near, x.expr)


def _law(x: Signal) -> Hashable:
    """What samples are drawn from, to six digits."""
    source = x.source
    numbers = [np.array([source.mean]), source.K, *(np.zeros(0) if p is None else p for p in source.profiles)]
    return x.shape, x.expr, tuple(tuple(f"{v:.6g}" for v in np.ravel(part).tolist()) for part in numbers)


def _sampled(node: Node, sources: Sequence[Signal]) -> Signal:
    assert node.run is not None
    shape = node.outputs[0].shape
    rng = np.random.default_rng(0)
    repeats = min(max(ENTRIES // max(prod(shape), 1), 3), MOST_REPEATS)
    drawn = []
    for _ in range(repeats):
        outputs = node.run([sample(s, rng) for s in sources])
        assert outputs is not None
        if not np.size(outputs[0]):
            continue
        drawn.append(from_array(np.where(np.isfinite(outputs[0]), outputs[0], 0.0)))
    if not drawn:
        return constant(shape, 0.0)
    return Signal(shape, float(np.mean([s.mean for s in drawn])), np.mean([s.K for s in drawn], axis=0))
