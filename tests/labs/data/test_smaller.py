"""Images shrunk by whole numbers of pixels."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.data import load
from autoinit.labs.data.smaller import shrunk


def test_a_block_becomes_its_mean() -> None:
    sets = load("digits")
    small = shrunk(sets, 4)
    assert small.shape == (4, 4, 1) and small.train.images.dtype == np.uint8
    for part in ("train", "validation", "test"):
        before, after = getattr(sets, part), getattr(small, part)
        block = before.images[:, 2:4, 6:8, 0].reshape(len(before), 4).astype(float).mean(axis=1)
        assert np.abs(after.images[:, 1, 3, 0] - block).max() <= 0.5
        assert np.array_equal(before.labels, after.labels)
    assert small.std[0] < sets.std[0]  # the statistics are those of the new images


def test_sizes() -> None:
    sets = load("digits")
    assert shrunk(sets, 8) is sets
    for size in (3, 0, 16):
        with pytest.raises(OptionError, match="a divisor of 8"):
            shrunk(sets, size)
