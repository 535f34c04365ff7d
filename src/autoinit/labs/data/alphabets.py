"""Many tasks at once: to tell the characters of an alphabet apart, one task for each alphabet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...errors import OptionError
from .examples import Examples, Parts

SHARES = (0.5, 0.2, 0.3)
"""Of every character's drawings: to train, validate and test."""


@dataclass(frozen=True)
class Alphabet(Parts):
    """Inputs are uint8 (N, height, width, 1), ink 255 on paper 0; a label is the number of the character."""

    name: str
    classes: int


@dataclass(frozen=True)
class Alphabets:
    """The tasks, in alphabetical order."""

    name: str
    tasks: tuple[Alphabet, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of one image."""
        _, height, width, channels = self.tasks[0].train.inputs.shape
        return height, width, channels


@dataclass(frozen=True)
class Batch:
    """`images`: uint8 (tasks, size, height, width, 1); `labels`: int64 (tasks, size), each of its own task."""

    images: np.ndarray
    labels: np.ndarray


def alphabet(name: str, drawings: np.ndarray, seed: tuple[int, ...]) -> Alphabet:
    """drawings: uint8 (characters, drawings, height, width). Every character is split in the shares of the paper."""
    characters, count, height, width = drawings.shape
    rng = np.random.default_rng(seed)
    ends = np.rint(np.cumsum(SHARES) * count).astype(int)[:-1]
    order = np.stack([rng.permutation(count) for _ in range(characters)])

    def part(chosen: np.ndarray) -> Examples:
        chosen = np.sort(chosen, axis=1)
        images = drawings[np.arange(characters)[:, None], chosen].reshape(-1, height, width, 1)
        return Examples(images, np.repeat(np.arange(characters), chosen.shape[1]))

    train, validation, test = (part(chosen) for chosen in np.split(order, ends, axis=1))
    return Alphabet(train, validation, test, name, characters)


def batches(alphabets: Alphabets, size: int, count: int, rng: np.random.Generator) -> Iterator[Batch]:
    """`count` batches, each with `size` training examples of every task.

    A task's examples come in random order, each once before one comes again.
    """
    if size < 1 or count < 0:
        raise OptionError("'size' is a positive number, 'count' is not negative", where="batches",
                          received=f"size={size}, count={count}", fix="batches(alphabets, 1, 1000, rng)")  # fmt: skip
    orders = [np.concatenate(_orders(len(task.train), size * count, rng)) for task in alphabets.tasks]
    for number in range(count):
        taken = [task.train.take(order[number * size : (number + 1) * size])
                 for task, order in zip(alphabets.tasks, orders, strict=True)]  # fmt: skip
        yield Batch(np.stack([part.inputs for part in taken]), np.stack([part.labels for part in taken]))


def _orders(length: int, wanted: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Permutations, one behind the other, that are long enough."""
    return [rng.permutation(length) for _ in range(max(1, -(-wanted // length)))]
