"""Facts about weight distributions, and seeds that depend on nothing but the user's seed and a name."""

from __future__ import annotations

import hashlib
from math import erf, exp, pi, sqrt

CUT = 2.0
"""The truncated normal is cut at this many standard deviations of the parent."""

TRUNCATED_STD = sqrt(1 - 2 * CUT * exp(-CUT * CUT / 2) / sqrt(2 * pi) / erf(CUT / sqrt(2)))
"""Standard deviation of a unit normal cut at +-CUT (0.8796): divide by it to keep the wanted variance."""

UNIFORM_BOUND = sqrt(3.0)
"""U(-b, b) with b = UNIFORM_BOUND * std has standard deviation std."""


def name_seed(seed: int, name: str, part: int = 0) -> int:
    """A 63-bit seed for one part of one parameter: independent of the order and of the other parameters."""
    digest = hashlib.blake2b(f"{seed}\x00{name}\x00{part}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
