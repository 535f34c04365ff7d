"""Random numbers that depend on the seed, the purpose and the place in the run, and on nothing else.

Each batch and each step has a stream of its own, so a run that is resumed at step k, or whose batches are prepared
ahead by threads, draws what an uninterrupted run draws.
"""

from __future__ import annotations

import numpy as np

ORDER, AUGMENTATION, STEP = 1, 2, 3


def generator(seed: int, purpose: int, place: int) -> np.random.Generator:
    return np.random.default_rng((seed, purpose, place))


def number(seed: int, purpose: int, place: int) -> int:
    """A 63-bit number from the same stream, to seed a framework with."""
    return int(np.random.SeedSequence((seed, purpose, place)).generate_state(1, np.uint64)[0] >> 1)
