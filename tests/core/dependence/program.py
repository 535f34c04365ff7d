"""Small programs, op by op, whose rules and covariances can be asked for without a front end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from autoinit.core.graph.graph import Node, Value
from autoinit.core.signal.profiles import Array
from autoinit.core.signal.signal import Signal
from autoinit.rules.registry import RULES
from tests.rules.harness import FakeContext
from tests.rules.past import Past


class Program(Past):
    """Values that are made of one another, with their signals."""

    def input(self, signal: Signal) -> Value:
        return self.value(signal)

    def op(self, op: str, *operands: Value | float, shape: Sequence[int] | None = None, **attrs: Any) -> Value:
        scalars = {k: float(x) for k, x in enumerate(operands) if not isinstance(x, Value)}
        if op == "elementwise":
            attrs["scalars"] = scalars
        inputs = tuple(x if isinstance(x, Value) else None for x in operands)
        out = self.new(shape or next(x.shape for x in inputs if x is not None))
        node = Node(op, inputs, (out,), attrs)
        made = RULES[op](node, FakeContext(past=self), *(None if x is None else self.signals[x.id] for x in inputs))
        self.seen(node, made)
        return out

    def function(self, fn: str, *operands: Value | float, **attrs: Any) -> Value:
        shape = np.broadcast_shapes(*(x.shape for x in operands if isinstance(x, Value)))
        return self.op("elementwise", *operands, shape=shape, fn=fn, **attrs)

    def mean(self, x: Value, *axes: int) -> Value:
        shape = [1 if a in axes else n for a, n in enumerate(x.shape)]
        return self.op("reduce", x, shape=shape, kind="mean", axes=axes, keepdim=True)

    def cross(self, u: Value, v: Value) -> Array:
        """E[u_i v_j]."""
        shape = np.broadcast_shapes(u.shape, v.shape)
        found = self.joint.covariance(u, v, shape)
        assert found is not None
        return found + self.signals[u.id].mean * self.signals[v.id].mean


def by_pairs(u: Any, v: Any, samples: int = 0) -> Array:
    """Mean of u_i v_j over all pairs of places that differ exactly on S, by inverting sums along each axis.

    The sum over all j along an axis holds the n - 1 different places and the same one. `samples`: so many axes in front
    are no places; they come last in what is found.
    """
    shape = np.broadcast_shapes(u.shape, v.shape)
    u, v = np.broadcast_to(u, shape), np.broadcast_to(v, shape)
    places = tuple(range(samples, len(shape)))
    K = np.zeros((2,) * len(places) + shape[:samples])
    for S in product((0, 1), repeat=len(places)):
        a, b = u, v
        for axis, bit in zip(places, S, strict=True):
            if bit:
                a, b = a.sum(axis=axis, keepdims=True), b.sum(axis=axis, keepdims=True)
        K[S] = (a * b).sum(axis=places)
    for axis, n in enumerate(shape[samples:]):
        same, total = np.take(K, 0, axis=axis), np.take(K, 1, axis=axis)
        K = np.stack([same / n, (total - same) / (n * (n - 1)) if n > 1 else same], axis=axis)
    return K
