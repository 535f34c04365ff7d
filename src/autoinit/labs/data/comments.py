"""Texts with labels in three parts, and their form for a network: numbers of words, equally many for each text."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...errors import OptionError
from .choosing import balanced
from .examples import Examples, Parts
from .vocabulary import Vocabulary, vocabulary


@dataclass(frozen=True)
class Texts:
    """`labels`: int64 (N,)."""

    texts: tuple[str, ...]
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: np.ndarray) -> Texts:
        return Texts(tuple(self.texts[k] for k in chosen), self.labels[chosen])


@dataclass(frozen=True)
class Sequences(Parts):
    """Inputs are int64 (N, length): numbers of `vocabulary`."""

    name: str
    vocabulary: Vocabulary
    class_names: tuple[str, ...]

    @property
    def length(self) -> int:
        return int(self.train.inputs.shape[1])

    @property
    def classes(self) -> int:
        return len(self.class_names)


@dataclass(frozen=True)
class Comments:
    """A set of texts; `class_names[label]` says what a label means."""

    name: str
    train: Texts
    validation: Texts
    test: Texts
    class_names: tuple[str, ...]

    @property
    def classes(self) -> int:
        return len(self.class_names)

    def balanced(self, train: int, validation: int, test: int, seed: int = 0) -> Comments:
        """So many texts of each part, half of them of either class (of k classes, a k-th), chosen by `seed`."""
        wanted = {"train": train, "validation": validation, "test": test}
        parts = {name: getattr(self, name) for name in wanted}
        return replace(self, **{name: part.take(balanced(part.labels, wanted[name], seed, where=name))
                                for name, part in parts.items()})  # fmt: skip

    def encoded(self, words: int, length: int) -> Sequences:
        """Numbers for a network; the vocabulary is that of the training part.

        words: how many words have a number of their own; length: numbers of each text (see `Vocabulary.encode`).
        """
        if isinstance(length, bool) or not isinstance(length, int) or length < 1:
            raise OptionError("'length' takes a positive number of words", received=repr(length), fix="length=100")
        known = vocabulary(self.train.texts, words)
        train, validation, test = (Examples(known.encode(part.texts, length), part.labels)
                                   for part in (self.train, self.validation, self.test))  # fmt: skip
        return Sequences(train, validation, test, self.name, known, self.class_names)
