"""From random words to numbers of mean zero and variance one, by inversion, with the same bits on every machine.

The upper 24 bits of a word give an odd integer k between -2^24 and 2^24; u = k / 2^24 is uniform on (-1, 1), symmetric,
and never an end.

* uniform: sqrt(3) u.
* normal: sqrt(2) erfinv(u); truncated at +-c: sqrt(2) erfinv(u erf(c/sqrt 2)), divided by its standard deviation.

sqrt(2) erfinv(x) is computed by functions of our own that are made of additions, products, quotients and square roots
alone, which IEEE 754 rounds in one way only: for |x| <= erf(sqrt 2), where all truncated values and 95 % of the others
lie, x P(1 - x^2)/Q(1 - x^2) in float32 (relative error 5e-7); beyond, a polynomial in sqrt(-log(1 - x^2)) in float64,
with a logarithm by series.
"""

from __future__ import annotations

from math import erf, exp, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from ...errors import PlanError

Array = NDArray[np.float32]

CUT = 2.0
"""The truncated normal is cut at this many standard deviations of the parent."""
EDGE = erf(CUT / sqrt(2.0))
"""The share of a normal within the cuts; also where the middle formula ends."""
TRUNCATED_STD = sqrt(1 - 2 * CUT * exp(-CUT * CUT / 2) / sqrt(2 * pi) / EDGE)
"""Standard deviation of a unit normal cut at +-CUT (0.8796): divide by it to keep the wanted variance."""
STEP = 2.0**-31
P = np.array([0.019687701, 0.83241004, 4.7808409, 4.6833658, 0.42905968], np.float32)
Q = np.array([0.0063294079, 0.36327279, 2.8576305, 4.3463273], np.float32)
"""Numerator, and denominator without its leading 1, in powers of 1 - x^2."""
TRUNCATED_P = P / np.float32(TRUNCATED_STD)
TAIL = (
    1.3302783056562901, 0.037559912391661815, -0.009686643765610589, -5.3581443855562683e-05, 0.0017273430926731759,
    -0.0009872149217030374, 0.00012149570099106118, 0.0001715035199148056, -7.547798965395428e-05,
)  # fmt: skip
TAIL_MIDDLE, TAIL_HALF = 2.821076498014045, 1.2654727946592654
"""sqrt(2) erfinv(x) / r with r = sqrt(-log(1 - x^2)), in powers of (r - middle) / half width."""
SERIES = 6
"""Terms of the logarithm."""

INDEPENDENT = ("truncated_normal", "normal", "uniform")


def unit(words: NDArray[np.uint32], kind: str) -> Array:
    """One number for every word (the words are used up)."""
    words &= np.uint32(0xFFFFFF00)
    words |= np.uint32(0x80)  # as a signed integer: 128 k
    x = words.view(np.int32).astype(np.float32)
    if kind == "uniform":
        x *= np.float32(sqrt(3.0) * STEP)
        return x
    if kind == "truncated_normal":
        x *= np.float32(EDGE * STEP)
        middle(x, TRUNCATED_P)
        return x
    if kind == "normal":
        x *= np.float32(STEP)
        outside = np.flatnonzero(np.abs(x) > np.float32(EDGE))
        far = x[outside].astype(np.float64)
        middle(x, P)
        x[outside] = tail(far)
        return x
    raise PlanError("the plan asks for a filling that does not exist", where="Plan.apply", received=kind,
                    fix="make a new plan")  # fmt: skip


def middle(x: Array, numerator: Array) -> None:
    """sqrt(2) erfinv(x) (times a factor that is in the numerator), in place, for |x| <= EDGE."""
    y = x * x
    np.subtract(np.float32(1.0), y, out=y)
    top = y * numerator[4]
    bottom = y + Q[3]
    for k in (3, 2, 1):
        top += numerator[k]
        top *= y
        bottom *= y
        bottom += Q[k - 1]
    top += numerator[0]
    top /= bottom
    x *= top


def tail(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """sqrt(2) erfinv(x) for EDGE < |x| < 1."""
    y = x * x
    np.subtract(1.0, y, out=y)  # exact: x has 24 bits
    r = np.sqrt(-logarithm(y))
    s = (r - TAIL_MIDDLE) * (1.0 / TAIL_HALF)
    made = s * TAIL[-1]
    for c in TAIL[-2:0:-1]:
        made += c
        made *= s
    made += TAIL[0]
    made *= r
    return np.copysign(made, x)


def logarithm(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """log y = e log 2 + 2 (s + s^3/3 + s^5/5 ...) with y = m 2^e and s = (m - 1)/(m + 1); relative error 1e-9."""
    m, e = np.frexp(y)
    low = m < sqrt(0.5)
    m += m * low
    s = (m - 1.0) / (m + 1.0)
    square = s * s
    total = square * (1.0 / (2 * SERIES + 1))
    for k in range(SERIES - 1, 0, -1):
        total += 1.0 / (2 * k + 1)
        total *= square
    total += 1.0
    total *= s
    total *= 2.0
    total += (e - low) * log(2.0)
    return total
