"""Flips and crops of batches, images in the layout (batch, channels, height, width)."""

from __future__ import annotations

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
