"""A set of labelled images in three parts, and how the validation part is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.lazy import lazy
from .choosing import balanced

MEASURED = 2048
"""How many images the statistics of a lazily decoded set are measured on."""
CHUNK = 1000


@dataclass(frozen=True)
class Split:
    """`images`: uint8 (N, H, W, C), an array or images that are decoded when they are indexed; `labels`: int64 (N,)."""

    images: Any
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, chosen: np.ndarray) -> Split:
        """The images with these numbers; lazy ones stay undecoded."""
        images = self.images[chosen] if isinstance(self.images, np.ndarray) else self.images.take(chosen)
        return Split(images, self.labels[chosen])


@dataclass(frozen=True)
class Images:
    """A data set; `class_names[label]` says what a label means."""

    name: str
    train: Split
    validation: Split
    test: Split
    class_names: tuple[str, ...]

    @property
    def classes(self) -> int:
        return len(self.class_names)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels of one image."""
        _, height, width, channels = self.train.images.shape
        return height, width, channels

    @property
    def mean(self) -> np.ndarray:
        """Mean of every channel over the training part, in units where white is 1."""
        return self._moments[0]

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of every channel over the training part, in units where white is 1."""
        return self._moments[1]

    @lazy
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        return moments(self.train.images)


def moments(images: Any) -> tuple[np.ndarray, np.ndarray]:
    """Per channel, from counts of the 256 levels: exact for arrays, of evenly spread images for lazy sets."""
    count = len(images)
    if not isinstance(images, np.ndarray) and count > MEASURED:
        images, count = images.take(np.linspace(0, count - 1, MEASURED).astype(np.int64)), MEASURED
    levels, channels = np.arange(256) / 255, images.shape[-1]
    counts = np.zeros((channels, 256), np.int64)
    for start in range(0, count, CHUNK):
        chunk = np.asarray(images[start : start + CHUNK])
        for channel in range(channels):
            counts[channel] += np.bincount(chunk[..., channel].ravel(), minlength=256)
    weight = counts / counts.sum(axis=1, keepdims=True)
    mean = weight @ levels
    variance = (weight * (levels - mean[:, None]) ** 2).sum(axis=1)
    return mean, np.sqrt(variance)


def parted(name: str, train: Split, test: Split, class_names: tuple[str, ...], validation: int, seed: int) -> Images:
    """Take the validation part out of the training part; the order of what is left stays."""
    if validation == 0 and not isinstance(validation, bool):
        return Images(name, train, train.take(np.zeros(0, np.int64)), test, class_names)
    out = balanced(train.labels, validation, seed, where="validation", leave=1)
    kept = np.setdiff1d(np.arange(len(train)), out)
    return Images(name, train.take(kept), train.take(out), test, class_names)
