"""Maps along axes that follow each other are one map: the mean of means, the largest of the largest, means of copies.

What the first of them makes resembles itself from place to place, more so nearby, which an average over all pairs of
places does not tell. So the maps are multiplied, and the product is applied to what the first one was given.
"""

from __future__ import annotations

import numpy as np

from ..graph.along_axes import CHAINED, Maps, maps_of
from ..graph.canonical.layout import of_base
from ..graph.graph import Node, Value
from ..signal.axis_maps import Windows
from ..signal.profiles import Array
from ..signal.signal import Signal
from .joint import Joint

LARGEST = 2**18
"""Products of more entries are not made."""


def chained(joint: Joint, node: Node, x: Signal) -> tuple[Signal, Maps]:
    """What the first of a chain of maps that ends in `node` is given, and all of them in one."""
    at, maps = node.inputs[0], maps_of(node, x.shape)
    while isinstance(at, Value) and joint.view(at, len(at.shape)) == of_base(at.id, at.shape):
        inner = joint.source_argument(at)
        before = joint.story.producer(inner.id)
        if before is None or before.op not in CHAINED or not isinstance(before.inputs[0], Value):
            break
        first = maps_of(before, before.inputs[0].shape)
        copies = all(w.copies for w in first.values())
        if not copies and (inner is not at or CHAINED[before.op] != CHAINED[node.op]):
            break
        made = {axis: _after(maps.get(axis), first.get(axis)) for axis in {*maps, *first}}
        if any(w is None for w in made.values()):
            break
        start = joint.signal(before.inputs[0])
        if inner is not at:  # a function of copies is copies of the function
            start = Signal.function(start.source, x.expr)
        at, x, maps = before.inputs[0], start, {axis: w for axis, w in made.items() if w is not None}
    return x, maps


def _after(second: Windows | None, first: Windows | None) -> Windows | None:
    if second is None or first is None:
        return second or first
    n, m = 1 + int(first.taps.max(initial=0)), len(second.taps)
    if n * max(m, len(first.taps)) > LARGEST:
        return None
    return Windows.dense(_matrix(second, len(first.taps)) @ _matrix(first, n))


def _matrix(w: Windows, n: int) -> Array:
    made = np.zeros((len(w.taps), n))
    np.add.at(made, (np.arange(len(w.taps))[:, None], w.taps), w.weights)
    return made
