"""What a rule may ask about the operands of its node; None where nobody can say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..graph.along_axes import Maps, maps_of
from ..graph.canonical.layout import Digit
from ..graph.canonical.substitution import Lost
from ..graph.graph import Node, Value
from ..signal.signal import Signal
from .chains import chained
from .joint import Joint
from .statistics import Statistic, statistic_of

Array = NDArray[np.float64]
SLIGHT = 0.03
"""Correlations below this change little: of n products, what meets itself adds n c^2 (6 % for n = 64)."""


class Relations:
    """How the operands of one node vary together. Without a `joint` there is nothing to ask."""

    def __init__(self, joint: Joint | None, node: Node) -> None:
        self._joint, self._node = joint, node

    def _operands(self, slot: int, other: int) -> tuple[Joint, Value, Value] | None:
        if self._joint is None:
            return None
        one, two = self._joint.operand(self._node, slot), self._joint.operand(self._node, other)
        return None if one is None or two is None else (self._joint, one, two)

    def covariance(self, slot: int, other: int, shape: tuple[int, ...] | None = None) -> Array | None:
        """cov(u_i, v_j) for every pattern of a shape that both broadcast to (None: the output's)."""
        asked = self._operands(slot, other)
        return None if asked is None else asked[0].covariance(*asked[1:], shape or self._node.outputs[0].shape)

    def unfollowed(self, slot: int, other: int) -> str:
        """The op because of which nobody can tell how two operands that are made of the same vary together."""
        asked = self._operands(slot, other)
        return "" if asked is None else asked[0].unfollowed(*asked[1:], self._node.outputs[0].shape)

    def of_squares(self, slot: int, other: int) -> Array | None:
        """cov(u_i^2, v_j^2) over the shape of the output."""
        asked = self._operands(slot, other)
        return None if asked is None else asked[0].of_squares(*asked[1:], self._node.outputs[0].shape)

    def has_share(self, slot: int, other: int) -> bool:
        """Whether one of two operands is a function of shares (a softmax)."""
        asked = self._operands(slot, other)
        return asked is not None and any(asked[0].is_share(value) for value in asked[1:])

    def chained(self, x: Signal) -> tuple[Signal, Maps]:
        """What the first of the maps along axes that end in this node is given, and all of them in one."""
        if self._joint is None:
            return x, maps_of(self._node, x.shape)
        try:
            return chained(self._joint, self._node, x)
        except Lost:  # of a weight in the making
            return x, maps_of(self._node, x.shape)

    def across(self, slot: int, other: int, axis: int) -> Array | None:
        """The same for operands of their own lengths along an axis, averaged over all pairs of places there."""
        asked = self._operands(slot, other)
        return None if asked is None else asked[0].across(*asked[1:], axis)

    def meets_itself(self, equation: str, slot: int = 0, other: int = 1) -> bool:
        """Whether what a contraction multiplies is made of the same: x x^T has a diagonal that is unlike the rest."""
        asked = self._operands(slot, other)
        if asked is None:
            return False
        joint, one, two = asked
        left, right = equation.split("->")[0].split(",")
        rows, columns = ("".join(c for c in a if c not in b) for a, b in ((left, right), (right, left)))
        found = joint.by_label(one, two, (left, right))
        if found is None and joint.is_apart(one, two):
            return False
        if found is not None and not found.any() and joint.is_drawn(one) and joint.is_drawn(two):
            return False
        if len(rows) == len(columns):  # of the places that both have for themselves the same ones
            paired = joint.by_label(one, two, (left, right.translate(str.maketrans(columns, rows))))
            found = found if paired is None else paired
        if found is None:  # or a factor has no signal yet: a weight in the making
            return False
        try:
            u, v = (joint.signal(value) for value in (one, two))
            slight = SLIGHT * (u.variance * v.variance) ** 0.5
            return bool(np.any(np.abs(found) > slight)) or joint.is_factor(one, two) or joint.is_factor(two, one)
        except Lost:
            return False

    def statistic(self, slot: int, other: int, law: Signal) -> Statistic | None:
        """What operand `slot`, with this signal, is a statistic of, if that is the other one."""
        asked = self._operands(slot, other)
        if asked is None or asked[2].shape != self._node.outputs[0].shape:
            return None
        return statistic_of(*asked, law)

    def siblings(self, slot: int, other: int) -> tuple[Signal, int] | None:
        """The tensor that two operands are functions of different parts of, and the axis along which it was cut."""
        asked = self._operands(slot, other)
        rank = len(self._node.outputs[0].shape)
        if asked is None or any(len(value.shape) != rank for value in asked[1:]):
            return None
        joint, one, two = asked
        try:
            a, b = joint.origin(one), joint.origin(two)
        except Lost:
            return None
        if a is None or b is None or a.base != b.base:
            return None
        still = {digit.root for digit, _ in a.fixed ^ b.fixed}
        apart = [axis for axis, (p, q) in enumerate(zip(a.axes, b.axes, strict=True))
                 if p != q or any(isinstance(part, Digit) and part.root in still for part in p)]  # fmt: skip
        whole = joint.signal(a.base)
        return (whole, apart[0]) if len(apart) == 1 and whole.ndim == rank else None
