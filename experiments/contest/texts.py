"""From texts to windows of characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from autoinit.errors import InputError

OTHER = 0
"""The number of characters that are not in the alphabet."""
END = "\n"
WORDS = ("the", "an", "network", "weight", "layer", "signal", "grows", "vanishes", "learns", "deep", "wide", "again")


def alphabet(texts: Iterable[str], size: int) -> dict[str, int]:
    """Numbers from 1 of the most frequent characters, in lower case; with `OTHER` there are `size`."""
    counts = Counter(END)
    for text in texts:
        counts.update(text.lower())
    ordered = sorted(counts, key=lambda character: (-counts[character], character))
    return {character: number for number, character in enumerate(ordered[: size - 1], OTHER + 1)}


def windows(texts: Sequence[str], known: dict[str, int], length: int, count: int) -> np.ndarray:
    """int64 (count, length + 1): the beginning of all texts in a row, cut without overlap."""
    needed, numbers = count * (length + 1), []
    for text in texts:
        numbers += [known.get(character, OTHER) for character in f"{text.lower()}{END}"]
        if len(numbers) >= needed:
            return np.array(numbers[:needed], np.int64).reshape(count, length + 1)
    raise InputError("there are not so many characters", where="windows", received=f"{len(numbers)} of {needed}",
                     fix=f"at most {len(numbers) // (length + 1)} windows")  # fmt: skip


def nonsense(sentences: int, length: int, seed: int) -> list[str]:
    """Random words in a row, each sentence at least `length` characters long."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 1 + length // 3)) for _ in range(sentences)]
