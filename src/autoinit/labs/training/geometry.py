"""Flips and crops of batches, images in the layout (batch, channels, height, width)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


def flip(images: Tensor, rng: np.random.Generator) -> Tensor:
    """Mirror each image left to right with probability one half."""
    mirrored = torch.from_numpy(rng.random(len(images)) < 0.5)
    return torch.where(mirrored[:, None, None, None], images.flip(-1), images)


def padded_crop(images: Tensor, pad: int, rng: np.random.Generator) -> Tensor:
    """Surround each image with `pad` pixels of zero and cut a piece of the old size out, at a random place."""
    count, channels, height, width = images.shape
    top, left = (torch.from_numpy(rng.integers(0, 2 * pad + 1, count)) for _ in range(2))
    rows = top[:, None] + torch.arange(height)
    columns = left[:, None] + torch.arange(width)
    padded = functional.pad(images, (pad, pad, pad, pad))
    which = torch.arange(count)[:, None, None, None], torch.arange(channels)[None, :, None, None]
    return padded[which[0], which[1], rows[:, None, :, None], columns[:, None, None, :]]


def resize(images: Tensor, size: int) -> Tensor:
    """Bilinear, with antialiasing, to a square of side `size`."""
    if images.shape[-2:] == (size, size):
        return images
    return functional.interpolate(images, (size, size), mode="bilinear", antialias=True)


def centre_crop(images: Tensor, share: float) -> Tensor:
    """The middle of each image: `share` of its height and of its width."""
    height, width = images.shape[-2:]
    tall, wide = max(1, round(share * height)), max(1, round(share * width))
    top, left = (height - tall) // 2, (width - wide) // 2
    return images[..., top : top + tall, left : left + wide]


ASPECTS = (3 / 4, 4 / 3)
ATTEMPTS = 10


def box(height: int, width: int, smallest: float, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """(top, left, height, width) of a random crop (Szegedy et al., 2015).

    Its area is uniform between `smallest` and all of the image's, the logarithm of its aspect ratio uniform between
    those of `ASPECTS`; what does not fit is drawn again, and after ten times the largest centre square is taken.
    """
    for _ in range(ATTEMPTS):
        area = height * width * rng.uniform(smallest, 1)
        aspect = np.exp(rng.uniform(*np.log(ASPECTS)))
        wide, tall = round((area * aspect) ** 0.5), round((area / aspect) ** 0.5)
        if 0 < wide <= width and 0 < tall <= height:
            return int(rng.integers(0, height - tall + 1)), int(rng.integers(0, width - wide + 1)), tall, wide
    side = min(height, width)
    return (height - side) // 2, (width - side) // 2, side, side


def resized_crop(images: Iterable[Tensor], smallest: float, size: int, rng: np.random.Generator) -> Tensor:
    """A random crop of each image (see `box`), resized to a square of side `size`; images may differ in size."""
    crops = []
    for image in images:
        top, left, tall, wide = box(image.shape[-2], image.shape[-1], smallest, rng)
        crops.append(resize(image[None, :, top : top + tall, left : left + wide], size))
    return torch.cat(crops)
