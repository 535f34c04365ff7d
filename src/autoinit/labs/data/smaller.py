"""Smaller copies of small images, for runs without an accelerator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...errors import OptionError
from .images import Images, Split

CHUNK = 5000


def shrunk(data: Images, size: int) -> Images:
    """The same images with sides of `size` pixels, each the rounded mean of a block of the old ones."""
    height, width, _ = data.shape
    if (height, width) == (size, size):
        return data
    if size < 1 or height % size or width % size or not isinstance(data.train.images, np.ndarray):
        raise OptionError("images in memory are shrunk by a whole number of pixels", where="image_size", received=size,
                          fix=f"a divisor of {height}; large sets take their size when they are loaded")  # fmt: skip
    train, validation, test = (_shrunk(part, size) for part in (data.train, data.validation, data.test))
    return replace(data, train=train, validation=validation, test=test)


def averaged(images: np.ndarray, size: int) -> np.ndarray:
    """uint8 (…, height, width) with sides of `size` pixels, each the rounded mean of the area that it covers.

    Areas need not be whole numbers of the old pixels: those at an edge count in part.
    """
    height, width = images.shape[-2:]
    if (height, width) == (size, size):
        return images
    rows, columns = _cover(height, size), _cover(width, size)
    small: np.ndarray = np.rint(rows @ images.astype(np.float32) @ columns.T).astype(np.uint8)
    return small


def _cover(old: int, new: int) -> np.ndarray:
    """(new, old): the share of each old pixel in a new one."""
    starts, ends = np.arange(new)[:, None] * old / new, (np.arange(new)[:, None] + 1) * old / new
    pixels = np.arange(old)
    covered = np.clip(np.minimum(ends, pixels + 1) - np.maximum(starts, pixels), 0, None)
    share: np.ndarray = (covered / covered.sum(axis=1, keepdims=True)).astype(np.float32)
    return share


def _shrunk(split: Split, size: int) -> Split:
    count, height, width, channels = split.images.shape
    small = np.empty((count, size, size, channels), np.uint8)
    for start in range(0, count, CHUNK):
        blocks = split.images[start : start + CHUNK].reshape(-1, size, height // size, size, width // size, channels)
        small[start : start + CHUNK] = np.rint(blocks.mean(axis=(2, 4), dtype=np.float32))
    return Split(small, split.labels)
