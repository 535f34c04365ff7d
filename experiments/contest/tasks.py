"""What the networks of the contest learn: real images, texts and tables, cut once into three parts.

Which examples a part has is decided by the task, not by the seed of a run. Data is read once per process, and only what
a task uses stays in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from math import log
from typing import Any

import numpy as np

from autoinit.labs.data import Images, load, load_adult, load_toxicity
from autoinit.labs.data.images import Split, balanced
from autoinit.labs.data.smaller import shrunk

from . import texts

SEED = 0
"""Of every choice that a task makes."""
ENTROPY, SQUARES = "cross entropy", "squared error"


@dataclass(frozen=True)
class Part:
    """inputs: float32 (N, …) or int64 tokens; targets: int64 classes (N,) or (N, length), or float32 images."""

    inputs: np.ndarray
    targets: np.ndarray

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True)
class Data:
    """A task that has been loaded.

    sizes: what a network must know of the data, by the names of its options.
    guess: the loss of who knows nothing: log(classes), or the mean square of standardised targets.
    vocabulary: how many tokens there are; None where inputs are numbers.
    """

    train: Part
    validation: Part
    test: Part
    loss: str
    guess: float
    sizes: Mapping[str, int]
    vocabulary: int | None = None


@dataclass(frozen=True)
class Task:
    """kind: one of `KINDS`; train, validation, test: how many examples; side: of images, in pixels, 0 for their own."""

    kind: str
    train: int
    validation: int
    test: int
    side: int = 0
    length: int = 0
    """Of texts, in tokens."""
    vocabulary: int = 0
    noise: float = 0.0
    """Deviation of what is added to standardised images where the task is to take it off."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Task:
        return cls(**given)

    def load(self) -> Data:
        return _loaded(self)


@cache
def _loaded(task: Task) -> Data:
    return KINDS[task.kind](task)


def _images(name: str, task: Task) -> Images:
    found = _few(load(name, validation=task.validation, seed=SEED), task)
    return shrunk(found, task.side) if task.side else found


def _few(images: Images, task: Task) -> Images:
    """As many of each part as the task says, equally many of each class; copies, so that the rest can go."""
    parts = {}
    for name in ("train", "validation", "test"):
        part: Split = getattr(images, name)
        parts[name] = part.take(balanced(part.labels, getattr(task, name), SEED, where=name))
    return Images(images.name, class_names=images.class_names, **parts)


def _standardised(images: Images) -> list[np.ndarray]:
    """Of each part the images (N, channels, side, side), with mean 0 and variance 1 over the training part."""
    mean, std = (np.asarray(v, np.float32) for v in (images.mean, images.std))
    parts = (images.train, images.validation, images.test)
    return [np.ascontiguousarray(((p.images / np.float32(255) - mean) / std).transpose(0, 3, 1, 2)) for p in parts]


def _classes(images: Images) -> Data:
    labels = (images.train.labels, images.validation.labels, images.test.labels)
    parts = [Part(x, y) for x, y in zip(_standardised(images), labels, strict=True)]
    return Data(*parts, ENTROPY, log(images.classes), {"classes": images.classes, "channels": images.shape[2]})


def _denoising(task: Task) -> Data:
    """Images to be found again behind normal noise, which each image has one draw of."""
    images, rng = _images("cifar10", task), np.random.default_rng(SEED)
    clean = _standardised(images)
    parts = [Part(x + np.float32(task.noise) * rng.standard_normal(x.shape, np.float32), x) for x in clean]
    guess = float(np.square(clean[2]).mean())
    return Data(*parts, SQUARES, guess, {"classes": images.shape[2], "channels": images.shape[2]})


def _adult(task: Task) -> Data:
    """Features with mean 0 and variance 1, categories by their numbers."""
    table, rng = load_adult(seed=SEED).standardised(), np.random.default_rng(SEED)
    parts = []
    for name in ("train", "validation", "test"):
        part = getattr(table, name)
        rows = np.sort(rng.choice(len(part), getattr(task, name), replace=False))
        parts.append(Part(part.inputs[rows].astype(np.float32), part.labels[rows]))
    return Data(*parts, ENTROPY, log(table.classes), {"features": table.features, "classes": table.classes})


def _toxicity(task: Task) -> Data:
    """Whether a comment is toxic: half of them are."""
    comments = load_toxicity().balanced(task.train, task.validation, task.test, seed=SEED)
    coded = comments.encoded(task.vocabulary - 2, task.length)
    parts = [Part(part.inputs, part.labels) for part in (coded.train, coded.validation, coded.test)]
    sizes = {"vocabulary": coded.vocabulary.size, "length": task.length, "classes": coded.classes}
    return Data(*parts, ENTROPY, log(coded.classes), sizes, coded.vocabulary.size)


def _characters(task: Task) -> Data:
    """The next character of Wikipedia's comments."""
    comments = load_toxicity()
    return _next(task, [part.texts for part in (comments.train, comments.validation, comments.test)])


def _made_up(task: Task) -> Data:
    """The next character of sentences of nobody, for machines without data."""
    return _next(task, [texts.nonsense(2 * getattr(task, name), task.length, seed)
                        for seed, name in enumerate(("train", "validation", "test"))])  # fmt: skip


def _next(task: Task, parts: Any) -> Data:
    known = texts.alphabet(parts[0], task.vocabulary)
    counts = (task.train, task.validation, task.test)
    windows = [texts.windows(part, known, task.length, count) for part, count in zip(parts, counts, strict=True)]
    sizes = {"vocabulary": task.vocabulary, "length": task.length}
    cut = [Part(found[:, :-1], found[:, 1:]) for found in windows]
    return Data(*cut, ENTROPY, log(task.vocabulary), sizes, task.vocabulary)


KINDS: dict[str, Callable[[Task], Data]] = {
    "cifar10": lambda task: _classes(_images("cifar10", task)),
    "mnist": lambda task: _classes(_images("mnist", task)),
    "digits": lambda task: _classes(_images("digits", task)),
    "denoising": _denoising,
    "adult": _adult,
    "toxicity": _toxicity,
    "characters": _characters,
    "made-up characters": _made_up,
}
