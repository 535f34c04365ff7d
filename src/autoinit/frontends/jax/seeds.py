"""Seeds from keys: ``jax.random.key(5)`` draws what ``seed=5`` draws."""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ...core.options import LARGEST_SEED


def words_of(key: Any) -> Any:
    """The words of a key, typed or raw; of a tracer, too."""
    return jax.random.key_data(key)


def seed_of(words: NDArray[Any]) -> int:
    """The seed that a key was made with; of keys that were split or folded, a number that no other key gives."""
    flat = np.asarray(words, dtype=np.uint32).reshape(-1)
    half = flat[: max(len(flat) // 2, 2)]
    if len(half) == 2 and (len(flat) == 2 or np.array_equal(flat, np.tile(half, len(flat) // 2))):
        seed = (int(half[0]) << 32) | int(half[1])
        if seed <= LARGEST_SEED:
            return seed
    return int.from_bytes(hashlib.blake2b(flat.tobytes(), digest_size=8).digest(), "little") >> 1
