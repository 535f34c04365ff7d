"""Random bits by place: word number i of a stream, for any i, at once. Seeds depend on the user's and a name alone.

Philox4x64-10 is a counter-based generator: block b of four 64-bit words is a function of the key and b alone. NumPy's
C code makes the blocks, and its `random_raw` stream is frozen by NumPy's policy. 32 bits per entry, little-endian
halves: entry i is word i % 8 of block i // 8.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np
from numpy.typing import NDArray

PER_BLOCK = 8


def key_of(seed: int, name: str) -> int:
    """The 128-bit key of a parameter's stream."""
    text = f"autoinit\x00{seed}\x00{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "little")


def name_seed(seed: int, name: str, part: int = 0) -> int:
    """A 63-bit seed for one part of one parameter: independent of the order and of the other parameters."""
    digest = hashlib.blake2b(f"{seed}\x00{name}\x00{part}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


class Words:
    """The stream of a key. One reader at a time: each thread has its own."""

    def __init__(self, key: int) -> None:
        self._generator = np.random.Philox(key=key)
        self._at = 0
        """The block that the generator gives next."""

    def read(self, start: int, n: int) -> NDArray[np.uint32]:
        """Words start .. start + n."""
        block, skip = divmod(start, PER_BLOCK)
        blocks = -(-(skip + n) // PER_BLOCK)
        if block != self._at:  # steps are counted modulo 2^256: backwards is a long way forward
            self._generator.advance((block - self._at) % 2**256)
        self._at = block + blocks
        raw = self._generator.random_raw(blocks * (PER_BLOCK // 2))
        if sys.byteorder == "big":
            raw = raw.byteswap()
        return raw.view("<u4")[skip : skip + n]
