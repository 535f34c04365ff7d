"""From texts to numbers: words, and a vocabulary of the frequent ones of the training part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.lazy import lazy
from ...errors import OptionError

PADDING, UNKNOWN = 0, 1
FIRST = 2
"""The number of the most frequent word."""
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Runs of letters and digits in lower case, an apostrophe inside them counting: "Don't!" is one word."""
    return WORD.findall(text.lower())


@dataclass(frozen=True)
class Vocabulary:
    """`words[k]` has the number k + 2; 0 fills up, 1 is every other word."""

    words: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many numbers there are, filling and the unknown word included: the rows of an embedding."""
        return len(self.words) + FIRST

    @lazy
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, FIRST)}

    def encode(self, texts: Sequence[str], length: int) -> np.ndarray:
        """int64 (N, length): the first `length` words of each text at the end of its row, filling before them.

        So a recurrent layer ends on words. A text without a word is one unknown word.
        """
        numbers = self._numbers
        rows = np.full((len(texts), length), PADDING, np.int64)
        for row, text in zip(rows, texts, strict=True):
            coded = [numbers.get(word, UNKNOWN) for word in words_of(text)[:length]] or [UNKNOWN]
            row[length - len(coded) :] = coded
        return rows

    def decode(self, row: Sequence[int] | np.ndarray) -> str:
        """The words of one row, "?" for unknown ones."""
        return " ".join("?" if number == UNKNOWN else self.words[number - FIRST] for number in row if number != PADDING)


def vocabulary(texts: Sequence[str], words: int) -> Vocabulary:
    """The `words` most frequent words of these texts, the first in the alphabet where they are equally frequent."""
    if isinstance(words, bool) or not isinstance(words, int) or words < 1:
        raise OptionError("'words' takes a positive number", received=repr(words), fix="words=20000")
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(text))
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return Vocabulary(tuple(ordered[:words]))
