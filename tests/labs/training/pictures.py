"""Small image sets for these tests: scikit-learn's digits, and noise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np


def _sets(images, labels, cut: int, end: int) -> SimpleNamespace:
    def part(a, b):
        return SimpleNamespace(images=images[a:b], labels=labels[a:b])

    scaled = images[:cut] / 255
    return SimpleNamespace(
        train=part(0, cut),
        validation=part(cut, end),
        test=part(end, len(images)),
        mean=scaled.mean((0, 1, 2)),
        std=scaled.std((0, 1, 2)),
    )


def digits() -> SimpleNamespace:
    """1,797 pictures of digits, 8 × 8, one channel, in 0..240."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return _sets((found.images * 15).astype(np.uint8)[..., None], found.target, 1200, 1500)


def noise(count: int = 60, size: int = 8, channels: int = 3, classes: int = 4) -> SimpleNamespace:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, size, size, channels), np.uint8)
    return _sets(images, rng.integers(0, classes, count), count // 2, 3 * count // 4)
