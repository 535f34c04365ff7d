"""Convolutions: grouped, depthwise, dilated, strided, transposed, of any rank, with their borders.

A convolution is a contraction over the channels of a group and the taps of its kernel (see `contract`); two places
share taps as `core.signal.borders` counts them, borders included.
"""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import averaged_over, placed, transform
from ..core.signal.borders import Border, Taps, border, flat_border
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal
from ..core.signal.volatility import contracted, over_taps
from .contract import ByVariance, is_fresh, kept_cross, solved, with_bias
from .registry import Context, rule


@rule("conv")
def conv(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Convolution of any rank: grouped, depthwise, dilated, strided, transposed.

    For the same output channel K'(S) = n s^2 (sum over pairs of taps of K(S)), the pairs counted along each axis. The
    fan is channels per group times the effective taps of each axis (`borders`), which accounts for borders and for
    the stride of a transposed convolution.
    """
    return _convolved(node, ctx, x, bias, over_windows=False)


def over_windows(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """The same with local variances averaged over windows (`core.signal.volatility`), as gradients need them."""
    return _convolved(node, ctx, x, bias, over_windows=True)


def _convolved(node: Node, ctx: Context, x: Signal, bias: Signal | None, over_windows: bool) -> Signal:
    plan = ConvShape(node, x, over_windows)
    centred = ctx.centred(node, x)
    offset = centred.mean - x.mean

    through = ByVariance(
        lambda w: plan.dead_taps(plan.through(centred, w), w, offset) if offset else plan.through(x, w)
    )
    live = prod(b.same for b in plan.flat) / plan.taps
    return with_bias(solved(node, ctx, 1, through), bias, plan.channel, kept_cross(node, ctx, x, live))


class ConvShape:
    """The geometry of one convolution call and its moment map."""

    def __init__(self, node: Node, x: Signal, over_windows: bool = False) -> None:
        a, self.over_windows = node.attrs, over_windows
        self.batch, self.channel, *self.spatial = a["x_axes"]
        self.w_out, self.w_in, *self.w_spatial = a["w_axes"]
        self.out_shape = node.outputs[0].shape
        self.groups, self.transposed = a.get("groups", 1), bool(a.get("transposed", False))
        outputs = self.out_shape[self.channel]
        self.together = (outputs / self.groups - 1) / (outputs - 1) if outputs > 1 else 1.0
        """The chance that two different output channels lie in the same group."""
        w_shape = node.inputs[1].shape  # type: ignore[union-attr]
        self.channels = x.shape[self.channel] // self.groups
        self.borders: list[Border] = []
        self.flat: list[Border] = []
        self.along: list[Taps] = []
        self.taps = 1
        for k, axis in enumerate(self.spatial):
            low = a["padding"][k][0]
            taps = Taps(
                x.shape[axis], self.out_shape[axis], w_shape[self.w_spatial[k]], a["stride"][k], a["dilation"][k],
                low, self.transposed,
            )  # fmt: skip
            self.along.append(taps)
            self.borders.append(border(taps, x.profiles[axis]))
            self.flat.append(flat_border(taps))
            self.taps *= taps.kernel

    def dead_taps(self, y: Signal, w: Signal, offset: float) -> Signal:
        """y plus what a bias -mu sum(W) does where the padding is: there the taps read -mu instead of 0.

        Taps that are dead at both of two places: all - 2 live + live at both.
        """
        both = np.ones(())
        for b in self.flat:
            both = np.multiply.outer(both, (b.same, b.pair))
        dead = placed(np.maximum(self.taps - 2 * both.flat[0] + both, 0.0), self.spatial, y.ndim)
        dead = transform(dead, self.channel, np.diag([1.0, 0.0]))
        return y.having(y.mean, y.K + self.channels * w.second * offset**2 * dead)

    def through(self, x: Signal, w: Signal) -> Signal:
        K_w = w.K.transpose((self.w_out, self.w_in, *self.w_spatial))
        K = self._tap_pattern(x.K, K_w, (0,) * len(self.spatial))
        mean = 0.0
        if not is_fresh(w):
            for T in product((0, 1), repeat=len(self.spatial)):
                if any(T):
                    K = K + self._tap_pattern(x.K, K_w, T)
            mean = x.mean * w.mean * self.channels * prod(b.same for b in self.borders)
        profiles = list(x.profiles)
        profiles[self.channel] = None
        for b, axis in zip(self.borders, self.spatial, strict=True):
            profiles[axis] = b.profile
        taps = {axis: b.same for axis, b in zip(self.spatial, self.borders, strict=True)}
        V = contracted(x, self.channel, self.channels, self.together, taps, rows_are_centred(w, self.w_out),
                       self.over_windows)  # fmt: skip
        for axis in self.spatial:  # an axis that had one place has many now, or the other way round
            V = K_axes.settle_singletons(V, [n if a == axis else 2 for a, n in enumerate(self.out_shape)])
        # Channels of different groups have no direction in common; taps at different places add their own.
        deficiency = over_taps(x, taps) * (self.together / self.channels + x.deficiency)
        return Signal(self.out_shape, mean, K, profiles=tuple(profiles), deficiency=deficiency, volatility=V)

    def _tap_pattern(self, K: Array, K_w: Array, T: tuple[int, ...]) -> Array:
        """The part of the double sum in which the taps of each axis coincide (0) or differ (1).

        Two output channels of one group read the same channels, equal ones n times and different ones n (n - 1)
        times; those of different groups read different channels always.
        """
        for axis, b, differ in zip(self.spatial, self.borders, T, strict=True):
            K = transform(K, axis, b.matrix(differ))
        near, far = K_axes.same(K, self.channel), K_axes.different(K, self.channel)
        n = self.channels
        own, other = ((n * K_w[(o, 0, *T)] * near + n * (n - 1) * K_w[(o, 1, *T)] * far) for o in (0, 1))
        if self.transposed:  # the weight's axis of inputs runs over all groups, that of outputs over one
            per_group = self.out_shape[self.channel] // self.groups
            apart = n * n * (K_w[(0, 1, *T)] + (per_group - 1) * K_w[(1, 1, *T)]) / per_group
        else:
            apart = n * K_w[(1, 0, *T)] + n * (n - 1) * K_w[(1, 1, *T)]
        return K_axes.of_both(own, self.together * other + (1 - self.together) * apart * far, self.channel)


def rows_are_centred(w: Signal, out: int) -> bool:
    """Rows that sum to zero exactly: weights that are standardised in forward, which have a fixed length too."""
    if is_fresh(w) or w.second <= 0.0:
        return False
    fan = [a for a in range(w.ndim) if a != out]
    return abs(float(averaged_over(w.K, fan, w.shape).flat[0])) < 1e-9 * w.second
