"""Scikit-learn's bundled digits (1,797 images of 8x8) as tensors: no download."""

from __future__ import annotations

from typing import NamedTuple

import torch
from sklearn.datasets import load_digits as bundled_digits
from sklearn.model_selection import train_test_split
from torch import Tensor


class Digits(NamedTuple):
    """Images (N, 1, 8, 8), standardised with the training set's mean and deviation, and labels (N,)."""

    train_x: Tensor
    train_y: Tensor
    test_x: Tensor
    test_y: Tensor


def load_digits(test_fraction: float = 0.2, seed: int = 0) -> Digits:
    """The digits, split at random (from ``seed``) with every class in proportion."""
    data = bundled_digits()
    train_x, test_x, train_y, test_y = train_test_split(
        data.images, data.target, test_size=test_fraction, random_state=seed, stratify=data.target
    )
    mean, deviation = train_x.mean(), train_x.std()

    def images(x) -> Tensor:
        return torch.as_tensor((x - mean) / deviation, dtype=torch.float32)[:, None]

    def labels(y) -> Tensor:
        return torch.as_tensor(y, dtype=torch.long)

    return Digits(images(train_x), labels(train_y), images(test_x), labels(test_y))
