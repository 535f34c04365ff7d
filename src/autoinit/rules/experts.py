"""What a router chooses, for mixtures of experts (their grouped dense layers: `contract`)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod

import numpy as np

from ..core.gaussian.expression import X
from ..core.graph.graph import Node
from ..core.signal.measured import from_array
from ..core.signal.samples import sample
from ..core.signal.signal import Signal, constant
from .registry import Context, rule

ENTRIES = 2**13
"""A choice is sampled until it has given about so many entries..."""
MOST_REPEATS = 24
"""...but no more often than this."""
STEPS = 16


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
