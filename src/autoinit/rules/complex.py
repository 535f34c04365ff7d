"""Complex numbers: K(S) = E[z conj(z')] is kept, and the real part of the mean.

Contractions, sums, products and moves need nothing else. Where a number is taken apart, its two parts count as
independent with half of the power each, as they are for complex weights and for Fourier coefficients. What the parts
of a certain tensor really are, samples of the real ops tell, where these can be run: the rules here say that they
doubt themselves.
"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.signal import Signal
from .registry import Context, rule

DOUBT = "the parts of a complex number are not alike"


@rule("complex")
def complex_number(node: Node, ctx: Context, x: Signal, y: Signal | None = None) -> Signal:
    """join: z = x + iy, K = K_x + K_y. pair: the same with x and y along a last axis of two, K(S) = 2 K(S, same).

    turn: a number c times x, |c|² K. What becomes of x + ix is not to be seen from there: samples tell.
    """
    shape = node.outputs[0].shape
    if node.attrs["kind"] == "turn":
        real, imaginary = node.attrs["factor"]
        ctx.doubt(DOUBT)
        return Signal(shape, x.mean * real, x.K * (real**2 + imaginary**2))
    if node.attrs["kind"] == "pair":
        return Signal(shape, x.mean, 2.0 * x.K[..., 0])
    assert y is not None
    return Signal(shape, x.mean, x.K + y.K)


@rule("complex_part")
def complex_part(node: Node, ctx: Context, z: Signal) -> Signal:
    """Of z with mean m and K: the real part has K_r - m² = (K - m²)/2, the imaginary one the same about zero.

    both (a last axis of two): half of K, and nothing between the parts. modulus: the envelope of a circular Gaussian,
    E|z| = sqrt(pi K(0)/4), envelopes being correlated as the square of the numbers. angle: uniform, variance pi²/3.
    """
    shape, kind = node.outputs[0].shape, node.attrs["kind"]
    ctx.doubt(DOUBT)
    if kind == "both":
        return Signal(shape, z.mean / 2, np.stack([z.K / 2, np.zeros_like(z.K)], axis=-1))
    if kind in ("real", "imaginary"):
        half = (z.K - z.mean**2) / 2
        return Signal(shape, z.mean, half + z.mean**2) if kind == "real" else Signal(shape, 0.0, half)
    rho = np.clip(z.K / max(z.second, 1e-300), -1.0, 1.0)
    if kind == "angle":
        return Signal(shape, 0.0, pi**2 / 3 * rho**2)
    return Signal(shape, sqrt(pi / 4 * z.second), z.second * (pi / 4 + (1 - pi / 4) * rho**2))


@rule("fourier")
def fourier(node: Node, ctx: Context, x: Signal) -> Signal:
    """y_k = c sum_j x_j exp(-+ 2 pi i j k / n), axis by axis.

    Of n exchangeable places the sum has E|y_0|² = n K(0) + n (n - 1) K(1), the other n - 1 coefficients n (K(0) - K(1))
    each, and different coefficients are uncorrelated. Half spectra have the first among fewer; what comes back from
    one has as many places as the whole had.
    """
    ctx.doubt("the coefficients of a Fourier transform are not alike")
    K, mean, scale = x.K, x.mean, float(node.attrs["scale"])
    for axis, n, made in zip(node.attrs["axes"], node.attrs["sizes"], node.attrs["made"], strict=True):
        same, other = K_axes.same(K, axis), K_axes.different(K, axis)
        first, rest = n * same + n * (n - 1) * other, n * (same - other)
        power = (first + (made - 1) * rest) / made
        K = np.stack([power, np.zeros_like(power)], axis=axis)
        mean = mean * n / made
    return Signal(node.outputs[0].shape, mean * scale, K * scale**2)
